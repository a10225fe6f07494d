"""Which months differ too much from the previous months."""

from __future__ import annotations

from decimal import Decimal

import pytest

from nimbill.imports.anomaly_rules import describe_anomaly

STEADY = [Decimal(100)] * 6


def check(usage: str, previous: list[Decimal] = STEADY, *, provisional: bool = False) -> str | None:
    return describe_anomaly(Decimal(usage), previous, provisional=provisional)


def test_negative_usage_is_an_anomaly() -> None:
    assert check("-0.01", []) == "total usage is negative"
    assert check("0", []) is None


@pytest.mark.parametrize("months", [0, 1, 2])
def test_fewer_than_three_months_are_not_compared(months: int) -> None:
    assert check("1000000", STEADY[:months]) is None
    assert check("1000000", STEADY[:3]) is not None


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
def test_steady_usage_may_change_by_three_fifths(usage: str, reason: str | None) -> None:
    assert check(usage) == reason


def test_varying_usage_may_change_more() -> None:
    """Mean 100, standard deviation 50: three deviations are 150."""
    varying = [Decimal(50), Decimal(150)] * 3

    assert check("250", varying) is None
    assert check("250.01", varying) is not None


def test_a_provisional_month_may_be_low_but_not_high() -> None:
    assert check("1", provisional=True) is None
    assert check("200", provisional=True) is not None


def test_only_the_latest_six_months_are_compared() -> None:
    assert check("200", [*STEADY, *[Decimal(10_000)] * 12]) is not None


def test_any_usage_after_months_without_usage_is_an_anomaly() -> None:
    assert check("0", [Decimal(0)] * 3) is None
    assert check("0.01", [Decimal(0)] * 3) == "usage is far above that of the previous months"
