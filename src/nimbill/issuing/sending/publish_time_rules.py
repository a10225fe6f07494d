"""The rule of the time from which customers see a sent invoice."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("published-invoices")

DAYS_MAX = 366


def find_publish_time_violations(sent: Any, now: datetime) -> Iterator[Violation]:
    """A year too many in a form must not hide an invoice for good."""
    try:
        publish_time = parse_publish_time(sent)
    except (TypeError, ValueError, OverflowError):
        yield Violation("publish_time", "an RFC 3339 timestamp with an offset")
        return
    if publish_time > now + timedelta(days=DAYS_MAX):
        yield Violation("publish_time", f"at most {DAYS_MAX} days from now")


def parse_publish_time(sent: str) -> datetime:
    """Return the time in UTC. Raise ValueError without an offset."""
    parsed = datetime.fromisoformat(sent)
    if parsed.tzinfo is None:
        raise ValueError("no offset")
    return parsed.astimezone(UTC)
