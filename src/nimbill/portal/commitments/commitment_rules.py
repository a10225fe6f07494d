"""Hours of a month, use of a reservation, and the number of instances worth reserving."""

from datetime import datetime, timedelta
from decimal import Decimal

from nimbill.foundation.basis import chosen
from nimbill.foundation.calendar_month import month_end, month_start
from nimbill.foundation.money import divide_decimals, strip_zeros

basis = chosen("portal-reservations")
recommendations_basis = chosen("portal-recommendations")

STEADY_SHARE = Decimal("0.7")
HOURS_PER_DAY = 24
_HOUR = timedelta(hours=1)
_PERCENTAGE_UNIT = Decimal("0.01")
_HOURS_UNIT = Decimal("1e-10")


def count_hours(
    month: str, now: datetime, start: datetime | None = None, end: datetime | None = None
) -> int:
    """Count the hours of the month that have passed, within a term if it is given.

    The last hour of a term counts even if it is not complete.
    """
    first = month_start(month)
    if now <= first:
        return 0
    last = month_end(month)
    # The last month of the calendar has no end that could be calculated.
    until = now.replace(minute=0, second=0, microsecond=0)
    if last < now:
        until = last + timedelta(microseconds=1)
    first, until = max(first, start or first), min(until, end or until)
    return max(0, -((first - until) // _HOUR))


def divide_hours(used: Decimal, number: int, total: int) -> Decimal:
    """The part of the used hours that belongs to `number` of `total` instances."""
    return strip_zeros(divide_decimals(used * number, Decimal(total), _HOURS_UNIT))


def calculate_percentage(part: Decimal | None, whole: Decimal | int | None) -> Decimal | None:
    """None if one of them is unknown, or if there is nothing to compare with."""
    if part is None or whole is None or whole <= 0:
        return None
    return divide_decimals(part * 100, Decimal(whole), _PERCENTAGE_UNIT)


def recommend_number(hours: Decimal, days: int, month_hours: int) -> int:
    """Return how many instances ran so steadily that a reservation is worth considering.

    Whole instances count, and one more if it ran for most of the month. Usage on few days is not
    steady, however many instances ran.
    """
    steady_hours = STEADY_SHARE * month_hours
    if month_hours == 0 or days * HOURS_PER_DAY < steady_hours:
        return 0
    whole, rest = divmod(hours, month_hours)
    return max(0, int(whole) + int(rest >= steady_hours))
