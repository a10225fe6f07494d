"""A calendar month as it stands in paths, bodies and records: yyyy-mm, in UTC."""

import re
from calendar import monthrange
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from nimbill.foundation.basis import stated

basis = stated("Conventions")

LENGTH = 7
# the length says where it ends: `$` would let a line break pass; there is no year 0
PATTERN = "^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])"
RULE = "a month as yyyy-mm"

# a field of a body; a path takes nimbill.http.routing.MonthOfPath
Month = Annotated[str, msgspec.Meta(min_length=LENGTH, max_length=LENGTH, pattern=PATTERN)]


def is_month(text: str) -> bool:
    """Months are text, and later ones sort behind earlier ones."""
    return len(text) == LENGTH and re.match(PATTERN, text) is not None


def month_of(moment: datetime) -> str:
    """The month this moment lies in, in UTC."""
    at = moment.astimezone(UTC)
    return f"{at.year:04}-{at.month:02}"


def first_moment(month: str) -> datetime:
    if not is_month(month):
        raise ValueError(RULE)
    return datetime(int(month[:4]), int(month[5:]), 1, tzinfo=UTC)


def last_moment(month: str) -> datetime:
    """The last microsecond that belongs to it."""
    first = first_moment(month)
    _, days = monthrange(first.year, first.month)
    return first.replace(day=days, hour=23, minute=59, second=59, microsecond=999_999)
