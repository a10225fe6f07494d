"""The rules of the forecast: month to date, the same weekdays of four weeks, measured error."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

import pytest

from nimbill.foundation.money import ExactAmount, to_exact
from nimbill.portal.forecast.month_forecast import DailySeries, forecast_month, measure_error

MONTH = "2026-09"


def build_series(
    first: date, through: date, find_amount: Callable[[date], int | Decimal] = lambda _: 10
) -> DailySeries:
    days = [first + timedelta(days=number) for number in range((through - first).days + 1)]
    return DailySeries({day: to_exact(find_amount(day)) for day in days}, through)


def test_constant_usage_is_forecast_to_the_end_of_the_month() -> None:
    series = build_series(date(2026, 7, 1), date(2026, 9, 15))

    assert forecast_month([series], MONTH) == 300
    assert measure_error([series], MONTH) == 0


def test_a_later_day_costs_as_much_as_the_same_weekday_of_the_last_four_weeks() -> None:
    # four Mondays at 1, 2, 3 and 4; the Monday before them does not count
    mondays = {date(2026, 8, 17): 900, date(2026, 8, 24): 1, date(2026, 8, 31): 2}
    mondays |= {date(2026, 9, 7): 3, date(2026, 9, 14): 4}
    series = build_series(date(2026, 8, 1), date(2026, 9, 20), lambda day: mondays.get(day, 0))

    # 21 and 28 September are Mondays
    assert forecast_month([series], MONTH) == 3 + 4 + 2 * Decimal("2.5")


def test_a_mean_of_three_weeks_is_exact() -> None:
    thursdays = {date(2026, 9, 3): 1, date(2026, 9, 10): 1, date(2026, 9, 17): 2}
    series = build_series(date(2026, 9, 1), date(2026, 9, 20), lambda day: thursdays.get(day, 0))

    assert forecast_month([series], MONTH) == ExactAmount(Decimal(16), 3)


def test_in_the_first_week_other_weekdays_are_like_the_known_ones() -> None:
    series = build_series(date(2026, 9, 1), date(2026, 9, 3))

    assert forecast_month([series], MONTH) == 300


def test_a_day_without_usage_counts_as_zero() -> None:
    whole = build_series(date(2026, 7, 1), date(2026, 9, 15))
    amounts = {day: amount for day, amount in whole.amounts.items() if day.weekday() < 5}

    # September 2026 has 22 weekdays
    assert forecast_month([DailySeries(amounts, whole.through)], MONTH) == 220


def test_an_incomplete_day_counts_at_least_what_is_known() -> None:
    series = build_series(date(2026, 7, 1), date(2026, 9, 15))
    today = date(2026, 9, 16)

    above = DailySeries({**series.amounts, today: to_exact(25)}, series.through)
    below = DailySeries({**series.amounts, today: to_exact(4)}, series.through)

    assert forecast_month([above], MONTH) == 315
    assert forecast_month([below], MONTH) == 300


def test_a_month_that_has_not_begun_is_forecast_from_the_month_before() -> None:
    assert forecast_month([build_series(date(2026, 7, 1), date(2026, 8, 31))], MONTH) == 300


def test_a_month_that_is_over_is_its_sum() -> None:
    series = build_series(date(2026, 7, 1), date(2026, 10, 3), lambda day: day.day)

    assert forecast_month([series], MONTH) == 465


@pytest.mark.parametrize(
    "series",
    [
        DailySeries({}, date(2026, 9, 15)),
        build_series(date(2026, 5, 1), date(2026, 7, 31)),  # a month without any data
    ],
)
def test_without_recent_usage_there_is_no_forecast(series: DailySeries) -> None:
    assert forecast_month([series], MONTH) is None
    assert forecast_month([], MONTH) is None


def test_series_that_end_on_different_days_are_added() -> None:
    late = build_series(date(2026, 7, 1), date(2026, 9, 5))
    early = build_series(date(2026, 7, 1), date(2026, 9, 15), lambda _: 1)

    assert forecast_month([late, early], MONTH) == 330


def test_the_error_is_that_of_the_same_day_of_earlier_months() -> None:
    # Usage doubled after the 15th of July and of August, which nobody knew on the 15th.
    series = build_series(
        date(2026, 7, 1), date(2026, 9, 15), lambda day: 20 if day.day > 15 else 10
    )

    july = forecast_month([series.until(date(2026, 7, 15))], "2026-07")
    august = forecast_month([series.until(date(2026, 8, 15))], "2026-08")
    assert july == 310
    # of the last four weeks, two cost 10 a day and two 20; for Saturdays only one cost 20
    assert august == 150 + 14 * 15 + 2 * Decimal("12.5")
    error = (Decimal(470 - 310) + Decimal(470 - 385)) / 2 / 470 * 100
    assert measure_error([series], MONTH) == error.quantize(Decimal("0.1"))


def test_one_earlier_month_is_not_enough_for_an_error() -> None:
    assert measure_error([build_series(date(2026, 8, 1), date(2026, 9, 15))], MONTH) is None


def test_a_month_without_usage_has_no_percentage_error() -> None:
    series = build_series(
        date(2026, 6, 1), date(2026, 9, 15), lambda day: 0 if day.month == 7 else 10
    )

    assert measure_error([series], MONTH) is not None
    only_august = build_series(
        date(2026, 7, 1), date(2026, 9, 15), lambda day: 0 if day.month == 7 else 10
    )
    assert measure_error([only_august], MONTH) is None
