"""Turns usage into the series of a graph: one per account, group or tag value."""

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ZERO, ExactAmount, expand_amount, sum_exact
from nimbill.portal.usage.bodies import (
    GraphSeries,
    Interval,
    UsageGraph,
    list_unpriced,
    list_usage_months,
)
from nimbill.portal.usage_sums import Dimension, Usage

SERIES_MAX = 20

INTERVAL_DIMENSIONS = {Interval.month: Dimension.month, Interval.day: Dimension.day}

_Amounts = dict[tuple[str, Currency], dict[str, ExactAmount]]


def choose_interval(interval: Interval | None, months: Sequence[str]) -> Interval:
    """A single month is shown by day, several by month, unless the caller chooses."""
    return interval or (Interval.day if len(months) == 1 else Interval.month)


def build_graph(
    usage: Usage, interval: Interval, months: Sequence[str], find_name: Callable[[str], str]
) -> UsageGraph:
    """Build the series from usage by one dimension and the interval, in this order."""
    amounts: _Amounts = {}
    for ((id_, at), currency), amount in usage.amounts.items():
        by_point = amounts.setdefault((id_, currency), {})
        point = _format_point(at)
        by_point[point] = by_point.get(point, ZERO) + amount
    points = list_points(interval, months)
    largest = sorted(amounts, key=lambda key: _sort_key(key, amounts[key]))
    shown, others = largest[:SERIES_MAX], largest[SERIES_MAX:]
    series = [
        _build_series(id_, find_name(id_), currency, amounts[id_, currency], points)
        for id_, currency in shown
    ]
    for currency in sorted({currency for _, currency in others}):
        rest = [amounts[key] for key in others if key[1] is currency]
        series.append(_build_series(None, "", currency, _add_series(rest), points))
    return UsageGraph(
        interval=interval,
        points=points,
        series=series,
        months=list_usage_months(usage),
        unpriced=list_unpriced(usage.unpriced),
    )


def list_points(interval: Interval, months: Sequence[str]) -> list[str]:
    if interval is Interval.month:
        return list(months)
    return [
        date(int(month[:4]), int(month[5:]), day).isoformat()
        for month in months
        for day in range(1, monthrange(int(month[:4]), int(month[5:]))[1] + 1)
    ]


def _format_point(at: Any) -> str:
    return at.isoformat() if isinstance(at, date) else str(at)


def _sort_key(key: tuple[str, Currency], amounts: Mapping[str, ExactAmount]) -> tuple[Any, ...]:
    id_, currency = key
    return currency, expand_amount(sum_exact(amounts.values())).copy_negate(), id_


def _add_series(series: Sequence[Mapping[str, ExactAmount]]) -> dict[str, ExactAmount]:
    total: dict[str, ExactAmount] = {}
    for amounts in series:
        for point, amount in amounts.items():
            total[point] = total.get(point, ZERO) + amount
    return total


def _build_series(
    id_: str | None,
    name: str,
    currency: Currency,
    amounts: Mapping[str, ExactAmount],
    points: Sequence[str],
) -> GraphSeries:
    return GraphSeries(
        id=id_,
        name=name,
        currency=currency,
        amounts=[expand_amount(amounts.get(point, ZERO)) for point in points],
    )
