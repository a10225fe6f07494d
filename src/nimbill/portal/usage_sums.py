"""The usage of the accounts of a view, summed from stored sums, at the customer's price."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.fee_records import list_periods_with_moves
from nimbill.adjustments.reserved_instances.moved_fees import list_moved_fees
from nimbill.costs.lake.records import USAGE, cost_months, cost_sums
from nimbill.costs.lake.tagged_sum_records import has_keys
from nimbill.costs.months.records import load_month_state
from nimbill.database.tenant_scope import TenantScope, is_any_of
from nimbill.foundation.basis import chosen
from nimbill.foundation.calendar_month import month_start
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ExactAmount
from nimbill.portal.former_owners import ViewedMonths, load_viewed_months
from nimbill.portal.prices import NoPrice, PriceKey, Prices, load_prices
from nimbill.portal.usage_source import UsageSource, choose_source
from nimbill.portal.view import AccountKey, PortalView

basis = chosen("portal-usage")


class Dimension(StrEnum):
    """What usage is summed by. Each has one value per row; `service` has two (marketplace).

    The values of tags are null for usage without the tag.
    """

    month = "month"
    day = "day"
    vendor = "vendor"
    company = "company_id"
    account = "customer_id"
    service = "service"
    tag = "tag_value"
    second_tag = "tag_value_2"


class UnpricedMonth(NamedTuple):
    """Usage that is not shown because its price is unknown."""

    month: str
    vendor: str
    reason: str


class PricedMonth(NamedTuple):
    month: str
    vendor: str
    is_provisional: bool


@dataclass(slots=True)
class Usage:
    """Exact amounts by the values of the dimensions and by currency."""

    amounts: dict[tuple[tuple[Any, ...], Currency], ExactAmount] = field(default_factory=dict)
    months: set[PricedMonth] = field(default_factory=set)
    unpriced: set[UnpricedMonth] = field(default_factory=set)
    currencies: set[Currency] = field(default_factory=set)

    def add(self, key: tuple[Any, ...], currency: Currency, amount: ExactAmount) -> None:
        self.currencies.add(currency)
        before = self.amounts.get((key, currency))
        self.amounts[key, currency] = amount if before is None else before + amount

    def totals(self) -> dict[Currency, ExactAmount]:
        totals: dict[Currency, ExactAmount] = {}
        for (_, currency), amount in self.amounts.items():
            totals[currency] = totals[currency] + amount if currency in totals else amount
        return totals


class _CostRow(NamedTuple):
    """A sum of vendor costs, and the customer who pays for it."""

    price_key: PriceKey
    currency_code: str
    cost: Decimal
    values: tuple[Any, ...]  # of the dimensions


async def load_usage(
    db: AsyncConnection,
    view: PortalView,
    months: Sequence[str],
    dimensions: Sequence[Dimension],
    tag_keys: Sequence[str] = (),
) -> Usage:
    """Sum the usage of the months by the dimensions, and convert it to the customer's price.

    `tag_keys` are the keys of the dimensions `tag` and `second_tag`. Of a user with filters on
    tags only usage with these tags counts; moved fees have no tags.
    """
    accounts = await load_viewed_months(db, view, months)
    viewed = _build_accounts_table(accounts)
    source = choose_source(view.tags, tag_keys, viewed, by_day=Dimension.day in dimensions)
    rows = await _load_cost_rows(db, accounts, viewed, months, dimensions, source)
    if not view.tags:
        rows += await _load_moved_rows(db, accounts, months, dimensions)
    company_ids = {row.price_key.company_id for row in rows}
    usage = _price_rows(rows, await load_prices(db, view.scope, months, company_ids))
    if source.tag_keys:
        usage.unpriced |= await _list_months_without_tags(
            db, accounts, viewed, months, source.tag_keys
        )
    return usage


async def _load_cost_rows(
    db: AsyncConnection,
    accounts: ViewedMonths,
    viewed: sa.TableValuedAlias,
    months: Sequence[str],
    dimensions: Sequence[Dimension],
    source: UsageSource,
) -> list[_CostRow]:
    """Read no row of other accounts: the index on the sums contains vendor, month and account."""
    scope, sums = accounts.scope, source.table.c
    columns = [sums.vendor, sums.month, viewed.c.company_id, sums.currency]
    # Only then can months of an account belong to different companies.
    if accounts.former_owners or Dimension.account in dimensions:
        columns.append(sums.customer_id)
    if Dimension.service in dimensions:
        columns += [sums.service, sums.marketplace]
    others = (Dimension.day, Dimension.tag, Dimension.second_tag)
    columns += [sums[dimension.value] for dimension in others if dimension in dimensions]
    stmt = (
        sa.select(*columns, sa.func.sum(sums.cost).label("cost"))
        .join_from(
            viewed,
            source.table,
            (sums.vendor == viewed.c.vendor) & (sums.customer_id == viewed.c.customer_id),
        )
        .where(
            sums.organisation_id == scope.organisation_id,
            is_any_of(sums.month, months),
            sums.kind == USAGE,
        )
        .group_by(*columns)
        # A group whose lines all have the tag has no line without it.
        .having(sa.func.sum(sums.lines) != 0)
    )
    rows = []
    for row in await db.execute(stmt):
        fields = row._asdict()
        company_id = accounts.find_owner(
            row.vendor, fields.get("customer_id"), row.month, row.company_id
        )
        if company_id is not None:
            rows.append(_build_row(fields | {"company_id": company_id}, dimensions))
    return rows


async def _list_months_without_tags(
    db: AsyncConnection,
    accounts: ViewedMonths,
    viewed: sa.TableValuedAlias,
    months: Sequence[str],
    tag_keys: Collection[str],
) -> set[UnpricedMonth]:
    """List the months with usage of the accounts that has no sums by these keys."""
    scope, sums, stored = accounts.scope, cost_sums.c, cost_months.c
    stmt = (
        sa.select(sums.vendor, sums.month, sums.customer_id, viewed.c.company_id)
        .join_from(
            viewed,
            cost_sums,
            (sums.vendor == viewed.c.vendor) & (sums.customer_id == viewed.c.customer_id),
        )
        .join(
            cost_months,
            (stored.organisation_id == sums.organisation_id)
            & (stored.vendor == sums.vendor)
            & (stored.payer_id == sums.payer_id)
            & (stored.month == sums.month),
        )
        .where(
            sums.organisation_id == scope.organisation_id,
            is_any_of(sums.month, months),
            sums.kind == USAGE,
            sa.not_(has_keys(tag_keys)),
        )
        .distinct()
    )
    return {
        UnpricedMonth(month, vendor, "tag_sums_missing")
        for vendor, month, customer_id, company_id in await db.execute(stmt)
        if accounts.find_owner(vendor, customer_id, month, company_id) is not None
    }


def _build_accounts_table(accounts: ViewedMonths) -> sa.TableValuedAlias:
    rows = [(key.vendor, key.customer_id, account.company_id) for key, account in accounts.items()]
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    arrays = [sa.literal(list(values), ARRAY(sa.Text)) for values in columns]
    names = [sa.column(name, sa.Text) for name in ("vendor", "customer_id", "company_id")]
    return sa.func.unnest(*arrays).table_valued(*names, name="viewed").render_derived()


async def _load_moved_rows(
    db: AsyncConnection,
    accounts: ViewedMonths,
    months: Sequence[str],
    dimensions: Sequence[Dimension],
) -> list[_CostRow]:
    """Fees of reservations that were moved between accounts count on the month's first day."""
    scope = TenantScope(accounts.scope.organisation_id)
    customer_ids = [key.customer_id for key in accounts]
    rows = []
    for period in await list_periods_with_moves(db, scope, months, customer_ids):
        state = await load_month_state(db, scope, period)
        for fee in await list_moved_fees(db, scope, period, state):
            account = accounts.get(AccountKey(period.vendor, fee.customer_id))
            present = None if account is None else account.company_id
            company_id = accounts.find_owner(period.vendor, fee.customer_id, period.month, present)
            if company_id is not None:
                fields = {
                    "vendor": period.vendor,
                    "month": period.month,
                    "company_id": company_id,
                    "currency": fee.currency,
                    "customer_id": fee.customer_id,
                    "service": fee.service,
                    "marketplace": False,
                    "day": month_start(period.month).date(),
                    "tag_value": None,
                    "tag_value_2": None,
                    "cost": fee.amount,
                }
                rows.append(_build_row(fields, dimensions))
    return rows


def _build_row(fields: Mapping[str, Any], dimensions: Sequence[Dimension]) -> _CostRow:
    return _CostRow(
        price_key=PriceKey(fields["company_id"], fields["vendor"], fields["month"]),
        currency_code=fields["currency"],
        cost=fields["cost"],
        values=tuple(fields[name] for dimension in dimensions for name in _FIELDS[dimension]),
    )


_FIELDS: Mapping[Dimension, tuple[str, ...]] = {
    **{dimension: (dimension.value,) for dimension in Dimension},
    Dimension.service: ("service", "marketplace"),
}


def _price_rows(rows: Iterable[_CostRow], prices: Prices) -> Usage:
    usage = Usage()
    for row in rows:
        _, vendor, month = row.price_key
        price = prices.get(row.price_key)
        try:
            if price is None:
                raise NoPrice("settings_missing")
            amount = price.convert(row.cost, row.currency_code)
        except NoPrice as error:
            usage.unpriced.add(UnpricedMonth(month, vendor, error.reason))
        else:
            usage.months.add(PricedMonth(month, vendor, price.is_provisional))
            usage.add(row.values, price.currency, amount)
    return usage
