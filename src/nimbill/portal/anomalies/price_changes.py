"""Tells a changed price from changed usage, by restating earlier amounts at the month's price."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import USAGE, cost_sums
from nimbill.database.tenant_scope import is_any_of
from nimbill.foundation.basis import chosen
from nimbill.foundation.money import ExactAmount, expand_amount, to_exact
from nimbill.portal.one_company import CompanyView
from nimbill.portal.prices import NoPrice, PriceKey, load_prices

basis = chosen("portal-anomalies")

UnitPrices = Mapping[tuple[str, str], ExactAmount]


async def load_unit_prices(
    db: AsyncConnection, company: CompanyView, months: Sequence[str]
) -> UnitPrices:
    """What the customer pays for one unit of vendor cost, by vendor and month.

    A vendor with costs in several currencies in a month has no single price.
    """
    prices = await load_prices(db, company.view.scope, months, [company.company_id])
    units = {}
    for (vendor, month), currencies in (await _load_currencies(db, company, months)).items():
        price = prices.get(PriceKey(company.company_id, vendor, month))
        if price is not None and len(currencies) == 1:
            try:
                units[vendor, month] = price.convert(Decimal(1), currencies[0])
            except NoPrice:
                continue  # its usage is not shown either
    return units


async def _load_currencies(
    db: AsyncConnection, company: CompanyView, months: Sequence[str]
) -> Mapping[tuple[str, str], list[str]]:
    scope, sums = company.view.scope, cost_sums.c
    customer_ids = [key.customer_id for key in company.view.accounts]
    stmt = (
        sa.select(sums.vendor, sums.month, sums.currency)
        .where(
            sums.organisation_id == scope.organisation_id,
            is_any_of(sums.vendor, sorted({key.vendor for key in company.view.accounts})),
            is_any_of(sums.month, months),
            is_any_of(sums.customer_id, customer_ids),
            sums.kind == USAGE,
        )
        .distinct()
    )
    currencies: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for vendor, month, currency in await db.execute(stmt):
        currencies[vendor, month].append(currency)
    return currencies


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
