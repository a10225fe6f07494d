"""The page about the calculation has the numbers and words of the code and of the examples."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.rules import OneOf
from nimbill.invoicing.calculation.support_plans import find_support_plan
from tests.contract.specification import find_section, parse_tables, read_page, read_table
from tests.invoicing.worked_examples import load_example, read_inputs

PAGE = "calculation.md"
NUMBER = r"−?\b\d+(?:,\d{3})*(?:\.\d+)?"
# number of the table of lines: the example
EXAMPLES = {"a": 1, "b": 2, "d": 3}


def to_decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("−", "-"))


def read_examples() -> str:
    return find_section(read_page(PAGE), "Worked examples")


def test_the_costs_of_example_a_are_the_specified_ones() -> None:
    rows = read_table("Worked examples", "Account")

    assert [(account, service, Decimal(cost)) for account, service, cost in rows] == [
        (charge.customer_id, charge.service, charge.amount)
        for charge in load_example("a").case.charges.usage
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_printed_amounts_of_an_example_are_the_specified_ones(name: str) -> None:
    printed = load_example(name).printed
    amounts: dict[str, list[Any]] = {
        **{service: [charge, after] for _, service, charge, after in printed["lines"]},
        "Support": printed["support"],
        "Agency": printed["agency"],
        "Pre-tax": [printed["pre_tax"]],
        "Tax": [printed["tax"]],
        "Total": [printed["total"]],
        "Entry": [amount for _, amount in printed.get("entries", [])][:1] * 2,
    }
    _, rows = list(parse_tables(read_examples()))[EXAMPLES[name]]

    for line, *cells in rows:
        assert [to_decimal(cell) for cell in cells if cell] == amounts[line], line
    assert rows[-1][0] == "Total"


@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_the_inputs_of_an_example_are_the_described_ones(name: str) -> None:
    """Each number and each value of the setting that the text names is in the example."""
    begin = rf"\*\*{name.upper()}\.\*\*"
    (text,) = re.findall(
        rf"^{begin}(.*?)(?=^\*\*[A-D]\.\*\*|\Z)", read_examples(), re.MULTILINE | re.DOTALL
    )
    prose = re.sub(r"^\|.*", "", text, flags=re.MULTILINE).replace("not 30", "")
    inputs, printed = read_inputs(name), load_example(name).printed
    values = {str(value) for value in (*inputs["setting"].values(), inputs["rounding"])}
    used = [*list_numbers(inputs), *list_numbers(printed), 3]
    setting_words = {value for value in values | set(inputs["setting"]) if value.isidentifier()}

    assert {to_decimal(number) for number in re.findall(NUMBER, prose)} <= set(used)
    assert set(re.findall(r"`(\w+)`|\b(\w+_\w+)\b", prose)) <= {
        pair for word in setting_words for pair in ((word, ""), ("", word))
    }


def test_the_marketplace_line_of_example_d_is_the_described_one() -> None:
    (service,) = re.findall(r"the (\w+) line is marketplace", read_examples())
    charges = load_example("d").case.charges.usage

    assert service == "AmazonEC2"
    assert {charge.service for charge in charges if charge.marketplace} == {service}


def test_the_rounding_of_the_examples_is_the_described_one() -> None:
    (usual,) = re.findall(r"The rounding mode is `(\w+)` unless", read_examples())

    assert {load_example(name).case.rounding for name in EXAMPLES} == {usual}


def list_numbers(value: Any) -> list[Decimal]:
    if isinstance(value, dict):
        return [number for each in value.values() for number in list_numbers(each)]
    if isinstance(value, list | tuple):
        return [number for each in value for number in list_numbers(each)]
    return [Decimal(value)] if isinstance(value, Decimal | int) else []


def test_the_support_plans_are_the_specified_ones() -> None:
    for name, minimum, bands in read_table("Support fee", "Plan"):
        plan = find_support_plan(f"aws_{name}", "2026-11")
        specified = [
            (to_decimal(upto) if upto else None, to_decimal(rate) / 100)
            for rate, upto in re.findall(rf"({NUMBER}) %(?: to ({NUMBER}))?", bands)
        ]
        assert (to_decimal(minimum), specified) == (plan.minimum, list(plan.bands)), name


@pytest.mark.parametrize(
    ("heading", "field"),
    [
        ("Support fee", "support_fee"),
        ("Agency fee", "substitution_fee"),
        ("Agency fee", "substitution_fee_calc_type"),
    ],
)
def test_the_kinds_of_fees_are_the_allowed_values(heading: str, field: str) -> None:
    words = [word for row in read_table(heading, f"`{field}`") for word in row[0].split(", ")]
    allowed = ALLOWED_VALUES[field].create

    assert isinstance(allowed, OneOf)
    assert sorted(word.strip("`") for word in words) == sorted(allowed.values)
