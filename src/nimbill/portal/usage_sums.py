"""The usage of the accounts of a view, summed from stored sums, at the customer's price."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.moved_fees import list_moved_fees
from nimbill.costs.months.records import load_month_state
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.calendar_month import month_start
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ExactAmount
from nimbill.portal.former_owners import ViewedMonths
from nimbill.portal.prices import NoPrice, PriceKey, Prices
from nimbill.portal.report_basis import ReportBasis, load_report_basis
from nimbill.portal.usage_source import (
    LIST_MONTHS_WITHOUT_TAGS,
    UsageStatement,
    build_statement,
    list_account_values,
)
from nimbill.portal.view import AccountKey, PortalView


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
    # what a customer pays for a unit of cost, by vendor and month; None if that is unknown
    unit_prices: dict[tuple[str, str], list[ExactAmount | None]] = field(default_factory=dict)

    def add(self, key: tuple[Any, ...], currency: Currency, amount: ExactAmount) -> None:
        self.currencies.add(currency)
        before = self.amounts.get((key, currency))
        self.amounts[key, currency] = amount if before is None else before + amount

    def totals(self) -> dict[Currency, ExactAmount]:
        totals: dict[Currency, ExactAmount] = {}
        for (_, currency), amount in self.amounts.items():
            totals[currency] = totals[currency] + amount if currency in totals else amount
        return totals


# The customer who pays, vendor, month, currency code, a sum of vendor costs, and the values of the
# dimensions. A plain tuple, because a report has thousands of them.
_CostRow = tuple[str, str, str, str, Decimal, tuple[Any, ...]]


async def load_usage(
    db: AsyncConnection,
    view: PortalView,
    months: Sequence[str],
    dimensions: Sequence[Dimension],
    tag_keys: Sequence[str] = (),
    *,
    report_basis: ReportBasis | None = None,
) -> Usage:
    """Sum the usage of the months by the dimensions, and convert it to the customer's price.

    `tag_keys` are the keys of the dimensions `tag` and `second_tag`. Of a user with filters on
    tags only usage with these tags counts; moved fees have no tags. A page with several reports
    gives the `report_basis` of all their months.
    """
    report_basis = report_basis or await load_report_basis(db, view, months)
    accounts = report_basis.accounts
    columns = _list_columns(accounts, dimensions)
    stmt = build_statement(view.tags, tag_keys, columns)
    rows = await _load_cost_rows(db, accounts, months, dimensions, columns, stmt)
    if not view.tags:
        periods = [each for each in report_basis.periods_with_moves if each.month in months]
        rows += await _load_moved_rows(db, accounts, periods, dimensions)
    prices = await report_basis.load_prices(db, {row[0] for row in rows})
    usage = _price_rows(rows, prices)
    if stmt.tag_keys:
        usage.unpriced |= await _list_months_without_tags(db, accounts, months, stmt.tag_keys)
    return usage


def _list_columns(accounts: ViewedMonths, dimensions: Sequence[Dimension]) -> list[str]:
    """The columns of the sums besides company, vendor, month and currency."""
    columns = [
        name
        for dimension in dimensions
        for name in _FIELDS[dimension]
        if name not in _ALWAYS_SUMMED_BY
    ]
    # Only then can months of an account belong to different companies.
    if accounts.former_owners and Dimension.account not in dimensions:
        columns.append(Dimension.account.value)
    return columns


async def _load_cost_rows(
    db: AsyncConnection,
    accounts: ViewedMonths,
    months: Sequence[str],
    dimensions: Sequence[Dimension],
    columns: Sequence[str],
    stmt: UsageStatement,
) -> list[_CostRow]:
    rows = (await db.execute(stmt.stmt, _list_values(accounts, months) | stmt.values)).all()
    names = ["company_id", "vendor", "month", "currency", "cost", *columns]
    pick = _build_picker(names, dimensions)
    if not accounts.former_owners:
        return [(*row[:5], pick(row)) for row in rows]
    account = names.index(Dimension.account.value)
    owned = []
    for row in rows:
        company_id, vendor, month, *_ = row
        owner = accounts.find_owner(vendor, row[account], month, company_id)
        if owner is not None:
            changed = (owner, *row[1:])
            owned.append((*changed[:5], pick(changed)))
    return owned


def _list_values(accounts: ViewedMonths, months: Sequence[str]) -> dict[str, object]:
    """The parameters that all statements have."""
    company_ids = [account.company_id for account in accounts.values()]
    return {
        "organisation_id": accounts.scope.organisation_id,
        "months": list(months),
        **list_account_values(accounts, company_ids),
    }


def _build_picker(
    names: Sequence[str], dimensions: Sequence[Dimension]
) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that picks the values of the dimensions from a row with these columns."""
    positions = [names.index(name) for dimension in dimensions for name in _FIELDS[dimension]]
    if len(positions) == 1:
        (only,) = positions
        return lambda row: (row[only],)
    return itemgetter(*positions)


async def _list_months_without_tags(
    db: AsyncConnection, accounts: ViewedMonths, months: Sequence[str], tag_keys: Collection[str]
) -> set[UnpricedMonth]:
    """List the months with usage of the accounts that has no sums by these keys."""
    values = _list_values(accounts, months) | {"required_keys": sorted(tag_keys)}
    rows = await db.execute(LIST_MONTHS_WITHOUT_TAGS, values)
    return {
        UnpricedMonth(month, vendor, "tag_sums_missing")
        for vendor, month, customer_id, company_id in rows
        if accounts.find_owner(vendor, customer_id, month, company_id) is not None
    }


async def _load_moved_rows(
    db: AsyncConnection,
    accounts: ViewedMonths,
    periods: Iterable[BillingPeriod],
    dimensions: Sequence[Dimension],
) -> list[_CostRow]:
    """Fees of reservations that were moved between accounts count on the month's first day."""
    scope = TenantScope(accounts.scope.organisation_id)
    rows = []
    for period in periods:
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
    return (
        fields["company_id"],
        fields["vendor"],
        fields["month"],
        fields["currency"],
        fields["cost"],
        tuple(fields[name] for dimension in dimensions for name in _FIELDS[dimension]),
    )


_FIELDS: Mapping[Dimension, tuple[str, ...]] = {
    **{dimension: (dimension.value,) for dimension in Dimension},
    Dimension.service: ("service", "marketplace"),
}
_ALWAYS_SUMMED_BY = ("company_id", "vendor", "month")


def _price_rows(rows: Iterable[_CostRow], prices: Prices) -> Usage:
    """Many rows have the same price, so each price is looked up once."""
    usage = Usage()
    amounts = usage.amounts
    found: dict[tuple[str, str, str, str], tuple[Currency, ExactAmount] | None] = {}
    for company_id, vendor, month, currency_code, cost, values in rows:
        price_key = (company_id, vendor, month, currency_code)
        if price_key not in found:
            key = PriceKey(company_id, vendor, month)
            found[price_key] = _find_price(usage, prices, key, currency_code)
        price = found[price_key]
        if price is not None:
            currency, factor = price
            amount, before = factor.multiply(cost), amounts.get((values, currency))
            amounts[values, currency] = amount if before is None else before + amount
    return usage


def _find_price(
    usage: Usage, prices: Prices, key: PriceKey, currency_code: str
) -> tuple[Currency, ExactAmount] | None:
    """Return currency and factor; note in `usage` whether there is a price."""
    price = prices.get(key)
    unit_prices = usage.unit_prices.setdefault((key.vendor, key.month), [])
    try:
        if price is None:
            raise NoPrice("settings_missing")
        factor = price.find_factor(currency_code)
    except NoPrice as error:
        usage.unpriced.add(UnpricedMonth(key.month, key.vendor, error.reason))
        unit_prices.append(None)
        return None
    usage.months.add(PricedMonth(key.month, key.vendor, price.is_provisional))
    usage.currencies.add(price.currency)
    unit_prices.append(factor)
    return price.currency, factor
