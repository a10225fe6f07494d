"""Hours of a month, shares, and recommended numbers."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from nimbill.portal.commitments.commitment_rules import (
    calculate_percentage,
    count_hours,
    divide_hours,
    recommend_number,
)
from tests.contract.specification import collapse_whitespace, read_choice

LATER = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        (None, None, 720),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC), 720),
        (datetime(2026, 9, 30, tzinfo=UTC), None, 24),
        (None, datetime(2026, 9, 1, 2, 30, tzinfo=UTC), 3),
        (datetime(2026, 9, 30, 22, 59, 59, tzinfo=UTC), None, 2),
        (datetime(2026, 10, 1, tzinfo=UTC), None, 0),
        (None, datetime(2026, 9, 1, tzinfo=UTC), 0),
    ],
)
def test_hours_of_a_term_are_counted_within_the_month(
    start: datetime | None, end: datetime | None, hours: int
) -> None:
    assert count_hours("2026-09", LATER, start, end) == hours


@pytest.mark.parametrize(
    ("month", "now", "hours"),
    [
        ("2026-09", datetime(2026, 9, 2, 3, 59, tzinfo=UTC), 27),
        ("2026-09", datetime(2026, 9, 1, tzinfo=UTC), 0),
        ("2026-09", datetime(2026, 8, 1, tzinfo=UTC), 0),
        ("2024-02", LATER, 29 * 24),
        ("9999-12", LATER, 0),
        ("9999-12", datetime(9999, 12, 31, 12, tzinfo=UTC), 30 * 24 + 12),
    ],
)
def test_only_hours_that_have_passed_count(month: str, now: datetime, hours: int) -> None:
    assert count_hours(month, now) == hours


@pytest.mark.parametrize(
    ("hours", "days", "number"),
    [
        ("720", 30, 1),
        ("719", 30, 1),
        ("504", 30, 1),
        ("503.9999999999", 30, 0),
        ("1223.9", 30, 1),
        ("1224", 30, 2),
        ("7200", 30, 10),
        ("7200", 21, 10),
        ("7200", 20, 0),
        ("0", 30, 0),
        ("-5", 30, 0),
    ],
)
def test_instances_that_ran_for_seven_tenths_of_the_month_are_steady(
    hours: str, days: int, number: int
) -> None:
    assert recommend_number(Decimal(hours), days, 720) == number


def test_nothing_is_recommended_before_the_month() -> None:
    assert recommend_number(Decimal(5), 1, 0) == 0


def test_the_share_of_steady_usage_is_documented() -> None:
    assert "at least 70 %" in collapse_whitespace(read_choice("portal-recommendations"))


@pytest.mark.parametrize(
    ("part", "whole", "percentage"),
    [("900", 1920, "46.88"), ("0", 5, "0.00"), ("7", 5, "140.00"), ("1", 0, None)],
)
def test_a_percentage_has_two_decimals(part: str, whole: int, percentage: str | None) -> None:
    expected = None if percentage is None else Decimal(percentage)

    assert calculate_percentage(Decimal(part), whole) == expected


def test_an_unknown_number_has_no_percentage() -> None:
    assert calculate_percentage(None, 5) is None
    assert calculate_percentage(Decimal(5), None) is None


def test_hours_are_divided_to_ten_decimals() -> None:
    assert divide_hours(Decimal(100), 2, 3) == Decimal("66.6666666667")
    assert divide_hours(Decimal(48), 1, 3) == 16
