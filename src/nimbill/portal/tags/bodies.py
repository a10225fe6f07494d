"""Response bodies of usage by tag. All amounts are at the customer's price, unrounded."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import expand_amount
from nimbill.http.request_bodies import Body
from nimbill.portal.usage.bodies import Interval, UnpricedUsage, UsageMonth, UsageTotal
from nimbill.portal.usage_sums import Usage


class TagUsageRow(Body, frozen=True, kw_only=True):
    """`tag_value` is null for usage without the tag."""

    basis: ClassVar[Basis] = chosen("portal-tags")

    month: str
    vendor: str
    tag_value: str | None
    service: str
    marketplace: bool
    currency: Currency
    amount: Decimal


class TagUsage(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-tags")

    key: str
    rows: list[TagUsageRow]
    totals: list[UsageTotal]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class CrossTagUsageRow(Body, frozen=True, kw_only=True):
    """`tag_value` is that of the first key, `tag_value_2` that of the second."""

    basis: ClassVar[Basis] = chosen("portal-tags")

    month: str
    vendor: str
    tag_value: str | None
    tag_value_2: str | None
    service: str
    marketplace: bool
    currency: Currency
    amount: Decimal


class CrossTagUsage(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-tags")

    keys: list[str]
    rows: list[CrossTagUsageRow]
    totals: list[UsageTotal]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


class TagSeries(Body, frozen=True, kw_only=True):
    """`tag_values` has one value for each key, null for usage without the tag.

    It is null itself in the series that adds up all smaller ones.
    """

    basis: ClassVar[Basis] = chosen("portal-tags")

    tag_values: list[str | None] | None
    currency: Currency
    amounts: list[Decimal]


class TagGraph(Body, frozen=True, kw_only=True):
    """`points` are months or days in order; the largest series comes first."""

    basis: ClassVar[Basis] = chosen("portal-tags")

    keys: list[str]
    interval: Interval
    points: list[str]
    series: list[TagSeries]
    months: list[UsageMonth]
    unpriced: list[UnpricedUsage]


def list_tag_rows(usage: Usage) -> list[TagUsageRow]:
    """Usage by month, vendor, tag and service, in this order."""
    return [
        TagUsageRow(
            month=month,
            vendor=vendor,
            tag_value=tag_value,
            service=service,
            marketplace=marketplace,
            currency=currency,
            amount=amount,
        )
        for (month, vendor, tag_value, service, marketplace), currency, amount in _sort(usage)
    ]


def list_cross_tag_rows(usage: Usage) -> list[CrossTagUsageRow]:
    """Usage by month, vendor, first tag, second tag and service, in this order."""
    return [
        CrossTagUsageRow(
            month=month,
            vendor=vendor,
            tag_value=tag_value,
            tag_value_2=tag_value_2,
            service=service,
            marketplace=marketplace,
            currency=currency,
            amount=amount,
        )
        for (
            (month, vendor, tag_value, tag_value_2, service, marketplace),
            currency,
            amount,
        ) in _sort(usage)
    ]


def _sort(usage: Usage) -> list[tuple[Sequence[Any], Currency, Decimal]]:
    """Usage without a tag comes last."""
    keys = sorted(
        usage.amounts, key=lambda key: ([(value is None, value) for value in key[0]], key[1])
    )
    return [
        (values, currency, expand_amount(usage.amounts[values, currency]))
        for values, currency in keys
    ]
