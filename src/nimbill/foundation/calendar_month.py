"""Calendar months in UTC, written as yyyy-mm in paths, bodies and records."""

import re
from calendar import monthrange
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated

import msgspec

LENGTH = 7
# No `$` at the end: it would accept a trailing line break. The length is checked instead.
PATTERN = "^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])"
RULE = "a month as yyyy-mm"

# The type of a field in a body. Path parameters use nimbill.http.routing.MonthOfPath.
CalendarMonth = Annotated[str, msgspec.Meta(min_length=LENGTH, max_length=LENGTH, pattern=PATTERN)]


def is_month(text: str) -> bool:
    return len(text) == LENGTH and re.match(PATTERN, text) is not None


@lru_cache(maxsize=256)
def month_start(month: str) -> datetime:
    if not is_month(month):
        raise ValueError(RULE)
    return datetime(int(month[:4]), int(month[5:]), 1, tzinfo=UTC)


@lru_cache(maxsize=256)
def month_end(month: str) -> datetime:
    """The last microsecond of the month."""
    first = month_start(month)
    _, days = monthrange(first.year, first.month)
    return first.replace(day=days, hour=23, minute=59, second=59, microsecond=999_999)


def count_months(month: str) -> int:
    """The months since the year 0."""
    return int(month[:4]) * 12 + int(month[5:])


def add_months(month: str, count: int) -> str:
    """The month `count` months later, or earlier if it is negative."""
    number = count_months(month) - 1 + count
    return f"{number // 12:04}-{number % 12 + 1:02}"
