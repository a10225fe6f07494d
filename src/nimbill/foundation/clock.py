"""The current time. All code asks here, so that tests can set it."""

import time
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo


def now() -> datetime:
    return datetime.now(UTC)


def unix_seconds() -> int:
    return int(time.time())


def unix_nanoseconds() -> int:
    return time.time_ns()


def format_timestamp(at: datetime) -> str:
    """Format a time in UTC by RFC 3339."""
    return at.isoformat().replace("+00:00", "Z")


def format_seconds(at: datetime) -> str:
    """Format a time in UTC by RFC 3339, without parts of a second."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def local_date(at: datetime, time_zone: str) -> date:
    """Return the date in a time zone: in Japan a day begins nine hours earlier than in UTC."""
    return at.astimezone(ZoneInfo(time_zone)).date()
