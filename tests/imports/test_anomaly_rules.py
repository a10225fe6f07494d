"""When a month is too unlike the months before it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from nimbill.imports.anomaly_rules import describe_anomaly

STEADY = [Decimal(100)] * 6


def judged(usage: str, before: list[Decimal] = STEADY, *, provisional: bool = False) -> str | None:
    return describe_anomaly(Decimal(usage), before, provisional=provisional)


def test_usage_below_nothing_is_never_right() -> None:
    assert judged("-0.01", []) == "total usage is negative"
    assert judged("0", []) is None


@pytest.mark.parametrize("months", [0, 1, 2])
def test_few_months_say_nothing_of_what_is_usual(months: int) -> None:
    assert judged("1000000", STEADY[:months]) is None
    assert judged("1000000", STEADY[:3]) is not None


@pytest.mark.parametrize(
    ("usage", "reason"),
    [
        ("160", None),
        ("160.0000000001", "usage is far above that of the previous months"),
        ("200", "usage is far above that of the previous months"),
        ("40", None),
        ("39.9999999999", "usage is far below that of the previous months"),
    ],
)
def test_a_steady_customer_may_grow_or_shrink_by_three_fifths(
    usage: str, reason: str | None
) -> None:
    assert judged(usage) == reason


def test_who_is_unsteady_may_be_more_so() -> None:
    """Mean 100, deviation 50: three of them are 150."""
    unsteady = [Decimal(50), Decimal(150)] * 3

    assert judged("250", unsteady) is None
    assert judged("250.01", unsteady) is not None


def test_a_month_that_is_not_over_may_be_small_but_not_large() -> None:
    assert judged("1", provisional=True) is None
    assert judged("200", provisional=True) is not None


def test_only_the_latest_six_months_count() -> None:
    assert judged("200", [*STEADY, *[Decimal(10_000)] * 12]) is not None


def test_after_months_without_usage_any_is_looked_at() -> None:
    assert judged("0", [Decimal(0)] * 3) is None
    assert judged("0.01", [Decimal(0)] * 3) == "usage is far above that of the previous months"
