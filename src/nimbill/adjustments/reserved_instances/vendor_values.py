"""Parses numbers and times as vendors write them; unreadable values become 0 or None."""

import re
from datetime import UTC, datetime
from decimal import Decimal

from nimbill.foundation import clock

# the words of AWS for the scope of a reservation
ZONE_SCOPE, REGION_SCOPE = "Availability Zone", "Region"

_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{0,22})?([eE][+-]?[0-9]{1,2})?", re.ASCII)


def parse_number(text: str) -> Decimal:
    return Decimal(text) if _NUMBER.fullmatch(text) else Decimal(0)


def parse_time(text: str) -> datetime | None:
    """A time without an offset is in UTC."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def derive_scope(vendor: str, *, stated: str, zone: str, region: str) -> str:
    """Cost files do not contain the scope: a reservation of AWS with a zone holds only there."""
    if stated or vendor != "aws":
        return stated
    if zone:
        return ZONE_SCOPE
    return REGION_SCOPE if region else ""


def format_time(time: datetime | None) -> str:
    return "" if time is None else clock.format_timestamp(time)
