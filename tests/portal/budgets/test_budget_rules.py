"""Which budgets and alert settings are refused, and by which field."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.foundation.currency import Currency
from nimbill.portal.budgets.budget_rules import (
    find_alert_violations,
    find_budget_violations,
    is_whole_amount,
)

VALID: dict[str, Any] = {
    "name": "all",
    "target": "company",
    "amount": 100,
    "thresholds": [{"percent": 80, "of": "actual"}, {"percent": 80, "of": "forecast"}],
}


def list_fields(*budgets: Any) -> list[str]:
    return [violation.field for violation in find_budget_violations(list(budgets))]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"amount": Decimal("0.01")},
        {"amount": 999_999_999_999_999},
        {"target": "account", "target_id": "1"},
        {"target": "group", "target_id": "grp_1"},
        {"target": "tag", "target_id": "Team="},
        {"target": "tag", "target_id": "Team=a=b"},
        {"thresholds": []},
        {"thresholds": "80 %"},  # the body check reports types
        {"thresholds": [{"percent": 1, "of": "actual"}, {"percent": 1000, "of": "actual"}]},
        {"thresholds": [{"percent": number, "of": "actual"} for number in range(1, 11)]},
    ],
)
def test_a_valid_budget(changes: dict[str, Any]) -> None:
    assert list_fields(VALID | changes) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"amount": 0}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": Decimal("0.009")}, "amount"),
        ({"amount": 10**15}, "amount"),
        ({"target_id": "1"}, "target_id"),
        ({"target": "account"}, "target_id"),
        ({"target": "group", "target_id": ""}, "target_id"),
        ({"target": "tag", "target_id": "Team"}, "target_id"),
        ({"target": "tag", "target_id": "=a"}, "target_id"),
        ({"target": "tag"}, "target_id"),
        ({"thresholds": [{"percent": 0, "of": "actual"}]}, "thresholds[0].percent"),
        ({"thresholds": [{"percent": 1001, "of": "actual"}]}, "thresholds[0].percent"),
        ({"thresholds": [{"percent": 5, "of": "actual"}] * 2}, "thresholds[1]"),
        (
            {"thresholds": [{"percent": number, "of": "actual"} for number in range(1, 12)]},
            "thresholds",
        ),
    ],
)
def test_a_refused_budget_names_its_field(changes: dict[str, Any], field: str) -> None:
    assert list_fields(VALID, VALID | changes) == [f"budgets[1].{field}"]


def test_a_budget_is_named_once() -> None:
    same = VALID | {"budget_id": "bud_1"}

    assert list_fields(same, VALID, same) == ["budgets[0].budget_id", "budgets[2].budget_id"]


def test_a_company_has_at_most_100_budgets() -> None:
    assert list_fields(*[VALID] * 100) == []
    assert list_fields(*[VALID] * 101) == ["budgets"]


@pytest.mark.parametrize("sent", [None, "x", [1, None, "x"], [{"thresholds": [1], "amount": True}]])
def test_wrong_types_are_left_to_the_body(sent: Any) -> None:
    assert list(find_budget_violations(sent)) == []


@pytest.mark.parametrize(
    ("amount", "currency", "is_whole"),
    [
        ("100", Currency.jpy, True),
        ("100.0", Currency.jpy, True),
        ("100.5", Currency.jpy, False),
        ("100.55", Currency.usd, True),
        ("100.555", Currency.usd, False),
        ("999999999999999", Currency.usd, True),
    ],
)
def test_amounts_are_whole_yen_or_cents(amount: str, currency: Currency, is_whole: bool) -> None:
    assert is_whole_amount(Decimal(amount), currency) is is_whole


@pytest.mark.parametrize(
    ("sent", "fields"),
    [
        ({"enabled": True, "recipients": ["a@example.com"]}, []),
        ({"enabled": False, "recipients": []}, []),
        ({"enabled": True, "recipients": []}, ["recipients"]),
        ({"enabled": True, "recipients": ["a@example.com", "x"]}, ["recipients[1]"]),
        ({"enabled": True, "recipients": ["a@example.com", "A@EXAMPLE.COM"]}, ["recipients[1]"]),
        ({"recipients": [f"{number}@example.com" for number in range(20)]}, []),
        ({"recipients": [f"{number}@example.com" for number in range(21)]}, ["recipients"]),
        ({"recipients": "a@example.com"}, []),
    ],
)
def test_alert_recipients(sent: dict[str, Any], fields: list[str]) -> None:
    assert [violation.field for violation in find_alert_violations(sent)] == fields
