"""Which days of a series are unusual: the modified z-score by median and MAD of the 30 days before.

MAD is the median absolute deviation from the median. Unlike mean and variance, both are
hardly affected by earlier outliers.
"""

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    add_decimals,
    divide_decimals,
    strip_zeros,
    subtract_decimals,
)

basis = chosen("portal-anomalies")

WINDOW = timedelta(days=30)
DAYS_MIN = 14
SCORE_MIN = Decimal("3.5")
CONSISTENCY = Decimal("0.6745")  # makes the MAD of normal data comparable to its deviation
SCORE_UNIT = Decimal("0.01")
DIFFERENCE_MIN: Mapping[Currency, Decimal] = {
    Currency.jpy: Decimal(1000),
    Currency.usd: Decimal(10),
}
MEDIAN_SHARE = Decimal(100)  # the floor of a MAD of zero is the median divided by this
_UNIT = Decimal("1e-30")
_MARGIN = Decimal("1e-20")


class Outlier(NamedTuple):
    day: date
    value: Decimal
    median: Decimal
    mad: Decimal
    score: Decimal


def find_outliers(
    amounts: Mapping[date, Decimal], currency: Currency, first: date
) -> Iterator[Outlier]:
    """Find the unusual days from `first` on. Only days that have an amount are compared."""
    window: deque[date] = deque()
    ordered: list[Decimal] = []  # the amounts of the window
    for day in sorted(amounts):
        while window and window[0] < day - WINDOW:
            del ordered[bisect_left(ordered, amounts[window.popleft()])]
        if day >= first and len(ordered) >= DAYS_MIN:
            yield from _compare(day, amounts[day], ordered, currency)
        window.append(day)
        insort(ordered, amounts[day])


def _compare(
    day: date, value: Decimal, ordered: Sequence[Decimal], currency: Currency
) -> Iterator[Outlier]:
    """Compare with the MAD only if the difference is worth it, because the MAD takes longer."""
    median = find_median(ordered)
    difference = subtract_decimals(value, median)
    if difference.copy_abs() < DIFFERENCE_MIN[currency]:
        return
    if _is_common(difference, median, ordered):
        return
    deviations = sorted(subtract_decimals(each, median).copy_abs() for each in ordered)
    mad = find_median(deviations)
    spread = mad or divide_decimals(median.copy_abs(), MEDIAN_SHARE, _UNIT)
    # Without any usual amount, the smallest difference that counts is the measure.
    spread = spread or DIFFERENCE_MIN[currency]
    score = divide_decimals(difference * CONSISTENCY, spread, _UNIT)
    if score.copy_abs() > SCORE_MIN:
        yield Outlier(
            day,
            strip_zeros(value),
            strip_zeros(median),
            strip_zeros(mad),
            divide_decimals(score, Decimal(1), SCORE_UNIT),
        )


def _is_common(difference: Decimal, median: Decimal, ordered: Sequence[Decimal]) -> bool:
    """Whether the score is certainly too small: most amounts deviate by more than it would need.

    Two searches in the ordered amounts replace the deviations of all of them. The margin is larger
    than any error of rounding; what is not certain is calculated.
    """
    needed = divide_decimals(difference.copy_abs() * CONSISTENCY, SCORE_MIN, _UNIT)
    needed = add_decimals(needed, _MARGIN)
    first = bisect_left(ordered, subtract_decimals(median, needed))
    last = bisect_right(ordered, add_decimals(median, needed))
    return last - first <= (len(ordered) - 1) // 2


def find_median(ordered: Sequence[Decimal]) -> Decimal:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return divide_decimals(add_decimals(ordered[middle - 1], ordered[middle]), Decimal(2), _UNIT)
