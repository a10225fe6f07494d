"""Formats of account numbers per vendor."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.cloud_accounts.account_number_rules import FORMATS, find_number_violations
from nimbill.foundation.vendor_names import BILLED_VENDORS

DESCRIPTIONS = {
    ("aws", "customer_id"): "12 digits",
    ("aws", "account_id"): "12 digits",
    ("azure", "customer_id"): "16 to 36 characters, none a slash",
    ("azure", "account_id"): "7 digits",
}
VALID = {
    ("aws", "customer_id"): ["000000000000", "999999999999", "000000000001"],
    ("aws", "account_id"): ["000000000000", "999999999999"],
    ("azure", "customer_id"): [
        "0123456789abcdef",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "a" * 36,
        "購読" * 8,
        "🌸" * 36,
        "a|b c?d#e%2Ff;g\\",
    ],
    ("azure", "account_id"): ["0000000", "9999999"],
}
NOT_TWELVE_DIGITS = [
    "",
    "12345678901",
    "1234567890123",
    "12345678901a",
    "1234-5678-901",
    "１２３４５６７８９０１２",
]
INVALID = {
    ("aws", "customer_id"): [*NOT_TWELVE_DIGITS, " 12345678901", "123456789012\n", "+12345678901"],
    ("aws", "account_id"): [*NOT_TWELVE_DIGITS, "0000042"],
    ("azure", "customer_id"): ["", "a" * 15, "a" * 37, "🌸" * 37, "0123456789/abcdef"],
    ("azure", "account_id"): [
        "",
        "123456",
        "12345678",
        "123456a",
        "１２３４５６７",
        "012345678901",
    ],
}


def check(body: dict[str, Any], *fields: str) -> list[tuple[str, str]]:
    return [
        (violation.field, violation.rule) for violation in find_number_violations(body, *fields)
    ]


def test_every_billed_vendor_has_formats() -> None:
    assert set(FORMATS) == set(BILLED_VENDORS)


@pytest.mark.parametrize(("vendor", "field"), VALID)
def test_numbers_in_the_format_of_the_vendor_are_accepted(vendor: str, field: str) -> None:
    for value in VALID[vendor, field]:
        assert check({"vendor": vendor, field: value}, field) == [], value


@pytest.mark.parametrize(("vendor", "field"), INVALID)
def test_numbers_in_another_format_are_refused(vendor: str, field: str) -> None:
    for value in INVALID[vendor, field]:
        violations = check({"vendor": vendor, field: value}, field)
        assert violations == [(field, DESCRIPTIONS[vendor, field])], value


@pytest.mark.parametrize(
    ("vendor", "field", "shortest", "longest"),
    [
        ("aws", "customer_id", 12, 12),
        ("aws", "account_id", 12, 12),
        ("azure", "customer_id", 16, 36),
        ("azure", "account_id", 7, 7),
    ],
)
def test_only_lengths_within_the_limits_are_accepted(
    vendor: str, field: str, shortest: int, longest: int
) -> None:
    for length in range(shortest, longest + 1):
        assert check({"vendor": vendor, field: "0" * length}, field) == []
    for length in (0, shortest - 1, longest + 1):
        (violation,) = check({"vendor": vendor, field: "0" * length}, field)
        assert violation[0] == field


def test_only_ascii_digits_are_accepted() -> None:
    for vendor, field, length in (
        ("aws", "customer_id", 12),
        ("aws", "account_id", 12),
        ("azure", "account_id", 7),
    ):
        for digit in ("１", "١", "²", "a", " ", "\n"):
            body = {"vendor": vendor, field: "0" * (length - 1) + digit}
            assert check(body, field), digit


@pytest.mark.parametrize("vendor", [None, "gcp", 7, [], "AWS"])
def test_an_unknown_vendor_is_left_to_the_body_check(vendor: Any) -> None:
    assert check({"vendor": vendor, "customer_id": "1", "account_id": "1"}, "customer_id") == []


@pytest.mark.parametrize("value", [None, 123456789012, ["x"], {}])
def test_values_of_a_wrong_type_are_left_to_the_body_check(value: Any) -> None:
    assert check({"vendor": "aws", "customer_id": value}, "customer_id") == []


@pytest.mark.parametrize(
    "number", ["1", "x" * 64, "011111-222222-333333", "ocid1.tenancy.oc1..aaaa", "a b", "~{}!#0"]
)
def test_other_vendors_have_ids_of_up_to_64_printable_characters(number: str) -> None:
    body = {"vendor": "gcp", "customer_id": number, "account_id": number}

    assert list(find_number_violations(body, "customer_id", "account_id", vendors=["gcp"])) == []


@pytest.mark.parametrize(
    "number", ["", "x" * 65, "a/b", "a|b", "é1", " a", "a ", "a\n", "a\x7f", ".", "..", "--"]
)
def test_other_ids_of_other_vendors_are_refused(number: str) -> None:
    body = {"vendor": "gcp", "customer_id": number, "account_id": number}

    violations = find_number_violations(body, "customer_id", "account_id", vendors=["gcp"])

    assert [violation.field for violation in violations] == ["customer_id", "account_id"]


def test_only_the_given_fields_are_checked() -> None:
    body = {"vendor": "aws", "customer_id": "1", "account_id": "2"}

    assert [field for field, _ in check(body, "account_id")] == ["account_id"]
    assert [field for field, _ in check(body, "customer_id", "account_id")] == [
        "customer_id",
        "account_id",
    ]
