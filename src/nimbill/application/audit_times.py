"""Parses the time range of the audit log."""

from datetime import UTC, date, datetime, time, timedelta

import msgspec

from nimbill.foundation.errors import Violation

RULE = "a date or an RFC 3339 timestamp"
PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ].+)?$"


def parse_start(name: str, text: str | None, violations: list[Violation]) -> datetime | None:
    """The time in UTC; a date is the start of the day."""
    return _parse(name, text, violations, days=0)


def parse_end(name: str, text: str | None, violations: list[Violation]) -> datetime | None:
    """The time in UTC; a date is the end of the day. None after the last possible date."""
    return _parse(name, text, violations, days=1)


def _parse(
    name: str, text: str | None, violations: list[Violation], *, days: int
) -> datetime | None:
    if text is None:
        return None
    try:
        if len(text) > len("yyyy-mm-dd"):
            parsed = msgspec.convert(text, datetime)
        elif (day := date.fromisoformat(text)) == date.max and days:
            return None
        else:
            parsed = datetime.combine(day + timedelta(days=days), time())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError):
        violations.append(Violation(name, RULE))
        return None
