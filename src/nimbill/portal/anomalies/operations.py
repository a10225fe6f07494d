"""Finds the anomalies of a month from stored sums."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ExactAmount, expand_amount, to_exact
from nimbill.portal.anomalies.bodies import Anomalies, Anomaly, AnomalyCause
from nimbill.portal.anomalies.outlier_rules import Outlier, find_outliers
from nimbill.portal.forecast.month_forecast import list_month_days
from nimbill.portal.one_company import CompanyView
from nimbill.portal.report_basis import ReportBasis
from nimbill.portal.report_months import list_months
from nimbill.portal.usage.bodies import list_unpriced
from nimbill.portal.usage_sums import Dimension, Usage, load_usage

MONTHS_BEFORE = 2  # 30 days before 1 March are in January

UnitPrices = Mapping[tuple[str, str], ExactAmount]


class _ServiceKey(NamedTuple):
    vendor: str
    customer_id: str
    service: str
    marketplace: bool
    currency: Currency


_Series = Mapping[_ServiceKey, Mapping[date, Decimal]]


def list_anomaly_months(month: str) -> list[str]:
    return list_months(add_months(month, -MONTHS_BEFORE), month)


async def find_anomalies(
    db: AsyncConnection,
    company: CompanyView,
    month: str,
    *,
    report_basis: ReportBasis | None = None,
) -> Anomalies:
    months = list_anomaly_months(month)
    dimensions = [
        Dimension.month,
        Dimension.day,
        Dimension.vendor,
        Dimension.account,
        Dimension.service,
    ]
    usage = await load_usage(db, company.view, months, dimensions, report_basis=report_basis)
    prices = list_unit_prices(usage)
    names = dict(company.view.list_names())
    # A large customer has hundreds of thousands of days, which would delay other requests.
    anomalies = await asyncio.to_thread(
        lambda: list(_iterate_anomalies(_build_series(usage), month, prices, names))
    )
    return Anomalies(
        company_id=company.company_id,
        month=month,
        anomalies=sorted(anomalies, key=_sort_key),
        unpriced=list_unpriced(unpriced for unpriced in usage.unpriced if unpriced.month == month),
    )


def _build_series(usage: Usage) -> _Series:
    exact: defaultdict[_ServiceKey, dict[date, ExactAmount]] = defaultdict(dict)
    for (values, currency), amount in usage.amounts.items():
        month, day, vendor, customer_id, service, marketplace = values
        days = list_month_days(month)
        billed_day = min(max(day, days.first), days.last)
        series = exact[_ServiceKey(vendor, customer_id, service, marketplace, currency)]
        before = series.get(billed_day)
        series[billed_day] = amount if before is None else before + amount
    return {
        key: {day: expand_amount(amount) for day, amount in series.items()}
        for key, series in exact.items()
    }


def _iterate_anomalies(
    series: _Series, month: str, prices: UnitPrices, names: Mapping[str, str]
) -> Iterator[Anomaly]:
    first = list_month_days(month).first
    for key, amounts in series.items():
        outliers = list(find_outliers(amounts, key.currency, first))
        if outliers:
            usual_at_new_price = _find_price_days(key, amounts, month, prices, outliers)
            for outlier in outliers:
                cause = (
                    AnomalyCause.price if outlier.day in usual_at_new_price else AnomalyCause.usage
                )
                yield _build_anomaly(key, outlier, cause, names)


def _find_price_days(
    key: _ServiceKey,
    amounts: Mapping[date, Decimal],
    month: str,
    prices: UnitPrices,
    outliers: list[Outlier],
) -> set[date]:
    """The days that would be usual if the earlier days had had the same price."""
    restated = restate_amounts(amounts, key.vendor, month, prices)
    if restated is None:
        return set()
    first = list_month_days(month).first
    still_unusual = {each.day for each in find_outliers(restated, key.currency, first)}
    return {outlier.day for outlier in outliers} - still_unusual


def _build_anomaly(
    key: _ServiceKey, outlier: Outlier, cause: AnomalyCause, names: Mapping[str, str]
) -> Anomaly:
    return Anomaly(
        day=outlier.day.isoformat(),
        vendor=key.vendor,
        customer_id=key.customer_id,
        customer_name=names.get(key.customer_id, key.customer_id),
        service=key.service,
        marketplace=key.marketplace,
        currency=key.currency,
        value=outlier.value,
        median=outlier.median,
        mad=outlier.mad,
        score=outlier.score,
        cause=cause,
    )


def _sort_key(anomaly: Anomaly) -> tuple[str, str, str, str, bool]:
    return (
        anomaly.day,
        anomaly.vendor,
        anomaly.customer_id,
        anomaly.service,
        anomaly.marketplace,
    )


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
