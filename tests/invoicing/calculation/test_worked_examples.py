"""The worked examples come out to the last yen and cent, and the second opinion says the same."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.invoicing.calculation.sheet import calculate_invoice
from tests.invoicing.calculation_comparison import calculate_independently, find_differences
from tests.invoicing.worked_examples import EXAMPLES, FOLDER, list_printed_amounts, load_example


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_printed_amount_is_the_one_worked_out_by_hand(name: str) -> None:
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
def test_the_second_opinion_is_the_same(name: str) -> None:
    case = load_example(name).case

    assert (
        find_differences(
            calculate_invoice(case.charges, case.terms()), calculate_independently(case)
        )
        == []
    )


def test_the_four_examples_of_the_arithmetic_and_more_are_there() -> None:
    assert {"a", "b", "c", "d"} < set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_begins_with_its_story(name: str) -> None:
    assert (FOLDER / f"{name}.toml").read_text().startswith('story = "')
