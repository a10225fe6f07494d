"""How long to wait before a request is repeated."""

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DELAY_SECONDS_MAX = 30


def parse_retry_after(header: str | None) -> int | None:
    """Return the seconds of a Retry-After header, which may also be a date."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return int(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, int((moment - datetime.now(UTC)).total_seconds()) + 1)


def choose_delay(attempt: int, retry_after: int | None) -> float:
    """Wait as long as the service asks for, else longer after each attempt.

    Random delays keep many clients from returning at the same moment.
    """
    if retry_after is not None:
        return retry_after
    longest = min(2**attempt, DELAY_SECONDS_MAX)
    return random.uniform(longest / 2, longest)
