"""The table of account numbers by itself."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.cloud_accounts.account_number_rules import NUMBERS, number_violations
from nimbill.foundation.vendors import BILLED_VENDORS


def broken(sent: dict[str, Any], *fields: str) -> list[tuple[str, str]]:
    return [tuple(violation) for violation in number_violations(sent, *fields)]  # type: ignore[misc]


def test_every_vendor_has_a_row() -> None:
    assert set(NUMBERS) == set(BILLED_VENDORS)


@pytest.mark.parametrize(
    ("vendor", "field", "least", "most"),
    [
        ("aws", "customer_id", 12, 12),
        ("aws", "account_id", 12, 12),
        ("azure", "customer_id", 16, 36),
        ("azure", "account_id", 7, 7),
    ],
)
def test_a_number_stands_at_the_edges_of_its_length(
    vendor: str, field: str, least: int, most: int
) -> None:
    for length in range(least, most + 1):
        assert broken({"vendor": vendor, field: "0" * length}, field) == []
    for length in (0, least - 1, most + 1):
        (violation,) = broken({"vendor": vendor, field: "0" * length}, field)
        assert violation[0] == field


def test_digits_are_those_of_ascii() -> None:
    for vendor, field, digits in (
        ("aws", "customer_id", 12),
        ("aws", "account_id", 12),
        ("azure", "account_id", 7),
    ):
        for digit in ("１", "١", "²", "a", " ", "\n"):
            sent = {"vendor": vendor, field: "0" * (digits - 1) + digit}
            assert broken(sent, field), digit


@pytest.mark.parametrize("vendor", [None, "gcp", 7, [], "AWS"])
def test_without_a_known_vendor_nothing_can_be_said(vendor: Any) -> None:
    assert broken({"vendor": vendor, "customer_id": "1", "account_id": "1"}, "customer_id") == []


@pytest.mark.parametrize("value", [None, 123456789012, ["x"], {}])
def test_what_is_no_text_is_left_to_its_type(value: Any) -> None:
    assert broken({"vendor": "aws", "customer_id": value}, "customer_id") == []


def test_only_the_fields_asked_for_are_looked_at() -> None:
    sent = {"vendor": "aws", "customer_id": "1", "account_id": "2"}

    assert [field for field, _ in broken(sent, "account_id")] == ["account_id"]
    assert [field for field, _ in broken(sent, "customer_id", "account_id")] == [
        "customer_id",
        "account_id",
    ]
