"""Forecasts a month from its days: what is known, and the usual amount of each later weekday.

The method is the seasonal naive forecast by weekday. It needs no training, and its error can be
measured by forecasting earlier months from the same day of the month.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from nimbill.foundation.calendar_month import add_months, month_end, month_start
from nimbill.foundation.money import (
    ZERO,
    ExactAmount,
    divide_decimals,
    expand_amount,
    sum_exact,
    to_exact,
)

WEEKS = 4
BACK_TESTED_MONTHS = 6
BACK_TESTED_MONTHS_MIN = 2
# A forecast from older data would be a guess.
AGE_MAX = timedelta(days=31)
ONE_DAY, ONE_WEEK = timedelta(days=1), timedelta(days=7)
ERROR_UNIT = Decimal("0.1")

DailyAmounts = Mapping[date, ExactAmount]


@dataclass(frozen=True, slots=True)
class DailySeries:
    """Amounts by day. Days up to `through` are complete: one without an amount had no usage."""

    amounts: DailyAmounts
    through: date

    def until(self, day: date) -> "DailySeries":
        """What was known at the end of that day."""
        known = {each: amount for each, amount in self.amounts.items() if each <= day}
        return DailySeries(known, min(day, self.through))


class MonthDays(NamedTuple):
    first: date
    last: date

    def sum(self, amounts: DailyAmounts) -> ExactAmount:
        return sum_exact(
            amount for day, amount in amounts.items() if self.first <= day <= self.last
        )


@lru_cache(maxsize=64)
def list_month_days(month: str) -> MonthDays:
    return MonthDays(month_start(month).date(), month_end(month).date())


def forecast_month(series: Sequence[DailySeries], month: str) -> ExactAmount | None:
    """Add up the forecasts of several series; None if none of them has recent data."""
    forecasts = [_forecast_series(each, month) for each in series]
    known = [forecast for forecast in forecasts if forecast is not None]
    return sum_exact(known) if known else None


def _forecast_series(series: DailySeries, month: str) -> ExactAmount | None:
    days = list_month_days(month)
    complete = [day for day in series.amounts if day <= series.through]
    if not complete or series.through < days.first - AGE_MAX:
        return None
    means = _list_weekday_means(series, min(complete))
    total = MonthDays(days.first, min(days.last, series.through)).sum(series.amounts)
    for day in _iterate_days(max(days.first, series.through + ONE_DAY), days.last):
        mean, known = means[day.weekday()], series.amounts.get(day, ZERO)
        # The amount of a day that is not complete yet can only grow.
        total += max(mean, known)
    return total


def _list_weekday_means(series: DailySeries, first: date) -> list[ExactAmount]:
    """The mean of the last weeks, from Monday to Sunday; a shorter history has fewer weeks."""
    means = [ZERO] * 7
    for number in range(7):
        latest = series.through - number * ONE_DAY
        same_weekdays = [latest - week * ONE_WEEK for week in range(WEEKS)]
        days = [day for day in same_weekdays if day >= first]
        # In the first week of a customer, a weekday that has not occurred is like the others.
        days = days or list(_iterate_days(first, series.through))
        amounts = sum_exact(series.amounts.get(day, ZERO) for day in days)
        means[latest.weekday()] = amounts / to_exact(len(days))
    return means


def measure_error(series: Sequence[DailySeries], month: str) -> Decimal | None:
    """The mean absolute percentage error of the same forecast in the last complete months.

    None if fewer than two months can be compared.
    """
    errors = [
        error
        for number in range(1, BACK_TESTED_MONTHS + 1)
        for error in _compare_month(series, month, add_months(month, -number))
    ]
    if len(errors) < BACK_TESTED_MONTHS_MIN:
        return None
    percent = expand_amount(sum_exact(errors) * to_exact(100))
    return divide_decimals(percent, Decimal(len(errors)), ERROR_UNIT)


def _compare_month(
    series: Sequence[DailySeries], month: str, past_month: str
) -> Iterator[ExactAmount]:
    """Forecast a past month as if its later days were unknown."""
    days = list_month_days(past_month)
    complete = [each for each in series if each.through >= days.last]
    cut = [each.until(_find_same_day(each.through, month, days)) for each in complete]
    forecast = forecast_month(cut, past_month)
    actual = sum_exact(days.sum(each.amounts) for each in complete)
    if forecast is not None and actual:
        error = (forecast - actual) / actual
        yield ZERO - error if error < ZERO else error


def _find_same_day(through: date, month: str, past: MonthDays) -> date:
    """The day of the past month from which the forecast is as far away as the present one."""
    first = list_month_days(month).first
    number = (through - first).days + 1 if through >= first else 0
    return min(past.first + (number - 1) * ONE_DAY, past.last)


def _iterate_days(first: date, last: date) -> Iterator[date]:
    day = first
    while day <= last:
        yield day
        day += ONE_DAY
