"""Numbers and moments as vendors write them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from nimbill.adjustments.reserved_instances.vendor_values import moment_of, number_of, timestamp


@pytest.mark.parametrize(
    ("written", "number"),
    [("4", "4"), ("0.0786000000", "0.0786"), ("1E3", "1000"), ("9.2e-6", "0.0000092"), ("5.", "5")],
)
def test_a_number_is_read_digit_by_digit(written: str, number: str) -> None:
    assert number_of(written) == Decimal(number)


@pytest.mark.parametrize(
    "written",
    ["", "NA", "NaN", "Infinity", "1e1000000", "1_000", "１", "٣", " 1", "1\n", "-1", "1" * 21],
)
def test_what_is_no_number_is_nought(written: str) -> None:
    assert number_of(written) == 0


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2025-06-01T04:11:37.000Z", "2025-06-01T04:11:37Z"),
        ("2025-06-01T04:11:37Z", "2025-06-01T04:11:37Z"),
        ("2025-06-01T04:11:37+09:00", "2025-05-31T19:11:37Z"),
        ("2025-06-01 04:11:37", "2025-06-01T04:11:37Z"),
        ("2025-06-01", "2025-06-01T00:00:00Z"),
        ("2025-06-01T04:11:37.5Z", "2025-06-01T04:11:37.500000Z"),
    ],
)
def test_a_moment_is_shown_in_utc(written: str, shown: str) -> None:
    assert timestamp(moment_of(written)) == shown


@pytest.mark.parametrize(
    "written", ["", "never", "06/01/2025", "0001-01-01T00:00:00+09:00", "2025-13-01"]
)
def test_what_is_no_moment_is_none(written: str) -> None:
    assert moment_of(written) is None
    assert timestamp(moment_of(written)) == ""


def test_a_moment_without_an_offset_is_utc() -> None:
    assert moment_of("2025-06-01T04:11:37") == datetime(2025, 6, 1, 4, 11, 37, tzinfo=UTC)
