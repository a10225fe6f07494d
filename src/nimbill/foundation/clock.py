"""The time, from one place, so that a test can stop it."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)


def unix_seconds() -> int:
    return int(time.time())


def unix_nanoseconds() -> int:
    return time.time_ns()


def written(at: datetime) -> str:
    """A moment in UTC as RFC 3339 has it."""
    return at.isoformat().replace("+00:00", "Z")
