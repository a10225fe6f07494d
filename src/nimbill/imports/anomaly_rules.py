"""Decides whether a month's usage differs too much from the previous months."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from nimbill.foundation.basis import chosen

basis = chosen("anomaly-check")

MONTHS_MIN = 3  # fewer months do not show what is usual
MONTHS_MAX = 6
DEVIATIONS_MAX = 3
DEVIATION_MIN = Fraction(1, 5)  # of the mean: allows a customer with steady usage to grow


def describe_anomaly(
    usage: Decimal, previous: Sequence[Decimal], *, provisional: bool
) -> str | None:
    """`previous` is the usage of earlier months, the latest first. None: nothing unusual."""
    if usage < 0:
        return "total usage is negative"
    months = [Fraction(amount) for amount in previous[:MONTHS_MAX]]
    if len(months) < MONTHS_MIN:
        return None
    mean = sum(months, Fraction(0)) / len(months)
    variance = sum(((amount - mean) ** 2 for amount in months), Fraction(0)) / len(months)
    deviation = Fraction(usage) - mean
    # squares instead of square roots keep the comparison exact
    if deviation**2 <= DEVIATIONS_MAX**2 * max(variance, (DEVIATION_MIN * mean) ** 2):
        return None
    if deviation < 0:
        # low usage is normal while the month is not over
        return None if provisional else "usage is far below that of the previous months"
    return "usage is far above that of the previous months"
