"""Amounts are restated at the price of the month, so that a new price is no anomaly of usage."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from nimbill.foundation.money import to_exact
from nimbill.portal.anomalies.operations import restate_amounts

AMOUNTS = {date(2026, 8, 31): Decimal(100), date(2026, 9, 1): Decimal(150)}


def test_earlier_days_get_the_price_of_the_month() -> None:
    prices = {("aws", "2026-08"): to_exact(100), ("aws", "2026-09"): to_exact(150)}

    restated = restate_amounts(AMOUNTS, "aws", "2026-09", prices)

    assert restated == dict.fromkeys(AMOUNTS, Decimal(150))


def test_without_a_change_or_without_a_price_nothing_is_restated() -> None:
    same = {("aws", "2026-08"): to_exact(100), ("aws", "2026-09"): to_exact(100)}
    unknown = {("aws", "2026-09"): to_exact(100), ("azure", "2026-08"): to_exact(1)}
    free = {("aws", "2026-08"): to_exact(0), ("aws", "2026-09"): to_exact(100)}

    for prices in (same, unknown, free, {}):
        assert restate_amounts(AMOUNTS, "aws", "2026-09", prices) is None
