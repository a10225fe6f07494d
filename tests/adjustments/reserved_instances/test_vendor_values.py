"""Parsing of numbers and times as vendors write them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from nimbill.adjustments.reserved_instances.vendor_values import (
    derive_scope,
    format_time,
    parse_number,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "number"),
    [("4", "4"), ("0.0786000000", "0.0786"), ("1E3", "1000"), ("9.2e-6", "0.0000092"), ("5.", "5")],
)
def test_a_number_keeps_its_digits(text: str, number: str) -> None:
    assert parse_number(text) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    ["", "NA", "NaN", "Infinity", "1e1000000", "1_000", "１", "٣", " 1", "1\n", "-1", "1" * 21],
)
def test_an_unreadable_number_is_0(text: str) -> None:
    assert parse_number(text) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-06-01T04:11:37.000Z", "2025-06-01T04:11:37Z"),
        ("2025-06-01T04:11:37Z", "2025-06-01T04:11:37Z"),
        ("2025-06-01T04:11:37+09:00", "2025-05-31T19:11:37Z"),
        ("2025-06-01 04:11:37", "2025-06-01T04:11:37Z"),
        ("2025-06-01", "2025-06-01T00:00:00Z"),
        ("2025-06-01T04:11:37.5Z", "2025-06-01T04:11:37.500000Z"),
    ],
)
def test_a_time_is_formatted_in_utc(text: str, expected: str) -> None:
    assert format_time(parse_time(text)) == expected


@pytest.mark.parametrize(
    "text", ["", "never", "06/01/2025", "0001-01-01T00:00:00+09:00", "2025-13-01"]
)
def test_an_unreadable_time_is_none(text: str) -> None:
    assert parse_time(text) is None
    assert format_time(parse_time(text)) == ""


def test_a_time_without_an_offset_is_in_utc() -> None:
    assert parse_time("2025-06-01T04:11:37") == datetime(2025, 6, 1, 4, 11, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    ("vendor", "stated", "zone", "region", "scope"),
    [
        ("aws", "", "eu-west-1a", "eu-west-1", "Availability Zone"),
        ("aws", "", "", "eu-west-1", "Region"),
        ("aws", "", "", "", ""),
        ("aws", "Region", "eu-west-1a", "eu-west-1", "Region"),
        ("azure", "", "", "westeurope", ""),
        ("azure", "Shared", "", "westeurope", "Shared"),
    ],
)
def test_the_scope_of_a_reservation_follows_from_its_zone(
    vendor: str, stated: str, zone: str, region: str, scope: str
) -> None:
    assert derive_scope(vendor, stated=stated, zone=zone, region=region) == scope
