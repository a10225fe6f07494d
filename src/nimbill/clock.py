"""The time, from one place, so that a test can stop it."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)


def unix_seconds() -> int:
    return int(time.time())


def unix_nanoseconds() -> int:
    return time.time_ns()
