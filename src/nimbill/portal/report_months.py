"""The months of a portal report, from the parameters `month`, or `from` and `to`."""

from collections.abc import Iterator
from datetime import date

from nimbill.foundation import clock
from nimbill.foundation.calendar_month import RULE, add_months, count_months, is_month
from nimbill.foundation.errors import Violation, refuse_if

MONTHS_MAX = 24


def list_report_months(month: str | None, first: str | None, last: str | None) -> list[str]:
    """List the months in order; without any parameter the current month.

    `from` without `to` ends with the current month, `to` without `from` is one month.
    """
    refuse_if(list(_find_violations(month, first, last)))
    if month is not None:
        return [month]
    last = last or current_month()
    months = list_months(first or last, last)
    if not months or len(months) > MONTHS_MAX:
        rule = f"a month before or equal to `to`, at most {MONTHS_MAX} months"
        refuse_if([Violation("from", rule)])
    return months


def _find_violations(month: str | None, first: str | None, last: str | None) -> Iterator[Violation]:
    for name, value in (("month", month), ("from", first), ("to", last)):
        if value is not None and not is_month(value):
            yield Violation(name, RULE)
    if month is not None and (first is not None or last is not None):
        yield Violation("month", "either month, or from and to")


def current_month() -> str:
    return f"{clock.now():%Y-%m}"


def current_day() -> date:
    """The day in UTC, as in cost files."""
    return clock.now().date()


def list_months(first: str, last: str) -> list[str]:
    """List the months from the first to the last; none if the last is earlier.

    At most one month more than a report may have, so that a far date costs nothing.
    """
    count = min(count_months(last) - count_months(first), MONTHS_MAX) + 1
    return [add_months(first, number) for number in range(count)]
