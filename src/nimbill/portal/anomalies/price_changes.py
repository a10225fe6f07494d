"""Tells a changed price from changed usage, by restating earlier amounts at the month's price."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from nimbill.foundation.money import ExactAmount, expand_amount, to_exact
from nimbill.portal.usage_sums import Usage

UnitPrices = Mapping[tuple[str, str], ExactAmount]


def list_unit_prices(usage: Usage) -> UnitPrices:
    """What the customer pays for one unit of vendor cost, by vendor and month.

    A vendor with costs in several currencies in a month has no single price.
    """
    return {
        key: prices[0]
        for key, prices in usage.unit_prices.items()
        if len(prices) == 1 and prices[0] is not None
    }


def restate_amounts(
    amounts: Mapping[date, Decimal], vendor: str, month: str, prices: UnitPrices
) -> dict[date, Decimal] | None:
    """Convert all days to the month's price; None if the price is unknown or did not change."""
    present = prices.get((vendor, month))
    units = {each: prices.get((vendor, each)) for each in {f"{day:%Y-%m}" for day in amounts}}
    if (
        present is None
        or not all(units.values())
        or all(unit == present for unit in units.values())
    ):
        return None
    factors = {each: present / unit for each, unit in units.items() if unit is not None}
    return {
        day: expand_amount(to_exact(amount) * factors[f"{day:%Y-%m}"])
        for day, amount in amounts.items()
    }
