"""Response bodies of the usage routes. All amounts are at the customer's price, unrounded."""

from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import expand_amount
from nimbill.http.request_bodies import Body
from nimbill.portal.usage_sums import UnpricedMonth, Usage


class UsageMonth(Body, frozen=True, kw_only=True):
    """A provisional month has no invoice yet: its terms and exchange rate may still change."""

    basis: ClassVar[Basis] = chosen("portal-usage")

    month: str
    vendor: str
    provisional: bool


class UnpricedUsage(Body, frozen=True, kw_only=True):
    """Usage that is not shown, because terms, exchange rate or sums by tag are missing."""

    basis: ClassVar[Basis] = chosen("portal-usage")

    month: str
    vendor: str
    reason: str  # settings_missing, rate_missing, unsupported_currency or tag_sums_missing


class UsageTotal(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-usage")

    currency: Currency
    amount: Decimal


class AccountUsageRow(Body, frozen=True, kw_only=True):
    """One line of an invoice before it is rounded: an account and a service in a month."""

    basis: ClassVar[Basis] = chosen("portal-usage")

    month: str
    vendor: str
    customer_id: str
    customer_name: str
    service: str
    marketplace: bool
    currency: Currency
    amount: Decimal


class AccountUsage(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-usage")

    rows: list[AccountUsageRow]
    totals: list[UsageTotal]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class Interval(StrEnum):
    month = "month"
    day = "day"


class GraphSeries(Body, frozen=True, kw_only=True):
    """One amount for each point. `id` is null in the series that adds up all smaller ones."""

    basis: ClassVar[Basis] = chosen("portal-usage")

    id: str | None
    name: str
    currency: Currency
    amounts: list[Decimal]


class UsageGraph(Body, frozen=True, kw_only=True):
    """`points` are months or days in order; the largest series comes first."""

    basis: ClassVar[Basis] = chosen("portal-usage")

    interval: Interval
    points: list[str]
    series: list[GraphSeries]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


def list_usage_months(usage: Usage) -> list[UsageMonth]:
    """List every month and vendor once: provisional if any of its companies is not invoiced."""
    provisional = {(month, vendor) for month, vendor, is_open in usage.months if is_open}
    return [
        UsageMonth(month=month, vendor=vendor, provisional=(month, vendor) in provisional)
        for month, vendor in sorted({(month, vendor) for month, vendor, _ in usage.months})
    ]


def list_unpriced(unpriced: Iterable[UnpricedMonth]) -> list[UnpricedUsage]:
    return [UnpricedUsage(**each._asdict()) for each in sorted(unpriced)]


def list_totals(usage: Usage) -> list[UsageTotal]:
    return [
        UsageTotal(currency=currency, amount=expand_amount(amount))
        for currency, amount in sorted(usage.totals().items())
    ]


def list_rows_by_account(usage: Usage, names: Iterable[tuple[str, str]]) -> list[AccountUsageRow]:
    """`names` are customer_id and name of the accounts."""
    customer_names = dict(names)
    return [
        AccountUsageRow(
            month=month,
            vendor=vendor,
            customer_id=customer_id,
            customer_name=customer_names.get(customer_id, customer_id),
            service=service,
            marketplace=marketplace,
            currency=currency,
            amount=expand_amount(amount),
        )
        for ((month, vendor, customer_id, service, marketplace), currency), amount in sorted(
            usage.amounts.items(), key=lambda item: item[0]
        )
    ]
