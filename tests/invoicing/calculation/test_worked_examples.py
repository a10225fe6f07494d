"""The worked examples, compared with the calculation and with the independent calculation."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.invoicing.calculation.sheet import calculate_invoice
from tests.invoicing.calculation_comparison import calculate_independently, find_differences
from tests.invoicing.worked_examples import EXAMPLES, FOLDER, list_printed_amounts, load_example


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_printed_amount_equals_the_worked_example(name: str) -> None:
    worked = load_example(name)

    found = list_printed_amounts(calculate_invoice(worked.case.charges, worked.case.terms()))

    expected: dict[str, Any] = {
        "support": None,
        "agency": None,
        "entries": [],
        "items": [],
        "tax_free": 0,
    }
    expected |= worked.printed
    assert {amount: found[amount] for amount in expected} == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_independent_calculation_gives_the_same_amounts(name: str) -> None:
    case = load_example(name).case

    assert (
        find_differences(
            calculate_invoice(case.charges, case.terms()), calculate_independently(case)
        )
        == []
    )


def test_the_documented_examples_exist() -> None:
    assert {"a", "b", "c", "d"} < set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_starts_with_a_description(name: str) -> None:
    assert (FOLDER / f"{name}.toml").read_text().startswith('description = "')
