"""Field rules of the body that creates and replaces an invoice template."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.invoice_templates.bodies import InvoiceTemplateBody
from tests.body_violations import find_body_violations
from tests.customers.invoice_templates.templates import OPTIONAL, REQUIRED, TEMPLATE

LENGTHS = {
    "name": (1, 100),
    "company": (1, 200),
    "postal": (0, 20),
    "address": (0, 400),
    "phone": (0, 40),
    "contact": (0, 200),
    "bank_account": (0, 400),
    "notes": (0, 2000),
}


def check(**fields: Any) -> list[tuple[str, str]]:
    return find_body_violations(InvoiceTemplateBody, TEMPLATE | fields)


def test_only_name_and_company_are_required() -> None:
    assert find_body_violations(InvoiceTemplateBody, REQUIRED) == []
    assert check(**dict.fromkeys(OPTIONAL)) == []
    for field in REQUIRED:
        assert check(**{field: None}) == [(field, "required")]


@pytest.mark.parametrize("field", LENGTHS)
def test_texts_have_a_minimum_and_a_maximum_length(field: str) -> None:
    shortest, longest = LENGTHS[field]

    for valid in ("長" * shortest, "🌸" * longest):
        assert check(**{field: valid}) == []
    for invalid in ("長" * (longest + 1), *([""] if shortest else [])):
        assert check(**{field: invalid}) == [(field, f"length {shortest} to {longest}")]


@pytest.mark.parametrize("colour", ["#000000", "#FFFFFF", "#0a7ABc", "", None])
def test_a_colour_of_six_hexadecimal_digits_is_accepted(colour: str | None) -> None:
    assert check(accent_colour=colour) == []


@pytest.mark.parametrize(
    "colour",
    ["#00000", "#0000000", "000000", "#00000g", "red", "#000000\n", "＃000000", "#００００００"],
)
def test_any_other_colour_is_refused(colour: str) -> None:
    assert check(accent_colour=colour) == [("accent_colour", "# and six hexadecimal digits")]


@pytest.mark.parametrize(
    "due",
    [
        {"due_rule": "end_of_next_month", "due_days": None},
        {"due_rule": "days", "due_days": 0},
        {"due_rule": "days", "due_days": 365},
        {"due_rule": None, "due_days": None},
        {"due_rule": None, "due_days": 10},
    ],
)
def test_valid_due_rules_are_accepted(due: dict[str, Any]) -> None:
    assert check(**due) == []


@pytest.mark.parametrize(
    ("due", "violation"),
    [
        ({"due_rule": "days", "due_days": None}, ("due_days", "required where due_rule is days")),
        ({"due_days": -1}, ("due_days", "from 0 to 365")),
        ({"due_days": 366}, ("due_days", "from 0 to 365")),
        ({"due_days": 30.5}, ("due_days", "a whole number")),
        ({"due_days": "30"}, ("due_days", "a whole number")),
        ({"due_days": True}, ("due_days", "a whole number")),
        ({"due_rule": "weeks"}, ("due_rule", "one of end_of_next_month, days")),
        ({"due_rule": ""}, ("due_rule", "one of end_of_next_month, days")),
    ],
)
def test_invalid_due_rules_are_refused(due: dict[str, Any], violation: tuple[str, str]) -> None:
    assert check(**due) == [violation]


@pytest.mark.parametrize("number", [None, "", TEMPLATE["registration_number"]])
def test_the_registration_number_is_optional(number: str | None) -> None:
    assert check(registration_number=number) == []


@pytest.mark.parametrize(
    "number",
    [
        "T7000012050003",
        "7000012050002",
        "t7000012050002",
        "Ｔ７００００１２０５０００２",
        "T-7000012050002",
    ],
)
def test_an_invalid_registration_number_is_refused(number: str) -> None:
    rule = "T and 13 digits with their check digit"

    assert check(registration_number=number) == [("registration_number", rule)]
