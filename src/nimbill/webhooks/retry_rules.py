"""When a delivery that failed is tried again: ten attempts within about three days."""

from datetime import datetime, timedelta

from nimbill.foundation.basis import chosen

basis = chosen("webhook-retries")

# The pause after each attempt; none follows the last one.
PAUSES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=18),
    timedelta(hours=22),
)
ATTEMPTS_MAX = len(PAUSES) + 1


def find_next_attempt(attempts: int, at: datetime) -> datetime | None:
    """Return when to try again after this many attempts, or None to give up."""
    if attempts >= ATTEMPTS_MAX:
        return None
    return at + PAUSES[attempts - 1]
