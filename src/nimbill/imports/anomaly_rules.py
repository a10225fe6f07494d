"""When a month's usage is so unlike the months before it that somebody should look first."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from nimbill.foundation.basis import chosen

basis = chosen("month-in-bounds")

MONTHS_LEAST = 3  # fewer say nothing of what is usual
MONTHS_MOST = 6
DEVIATIONS = 3
LEAST_DEVIATION = Fraction(1, 5)  # of the mean: a steady customer may still grow


def out_of_bounds(usage: Decimal, before: Sequence[Decimal], *, unfinished: bool) -> str | None:
    """The reason in words; `before` is the usage of earlier months, the latest first."""
    if usage < 0:
        return "usage adds up to less than nothing"
    months = [Fraction(one) for one in before[:MONTHS_MOST]]
    if len(months) < MONTHS_LEAST:
        return None
    mean = sum(months, Fraction(0)) / len(months)
    variance = sum(((one - mean) ** 2 for one in months), Fraction(0)) / len(months)
    away = Fraction(usage) - mean
    # squares instead of roots: what is compared is exact
    if away**2 <= DEVIATIONS**2 * max(variance, (LEAST_DEVIATION * mean) ** 2):
        return None
    if away < 0:
        # a month that is still going on is small, and nothing is amiss
        return None if unfinished else "usage is far below that of the months before"
    return "usage is far above that of the months before"
