"""Numbers and moments as vendors write them; what cannot be read is 0, or nothing."""

import re
from datetime import UTC, datetime
from decimal import Decimal

from nimbill.foundation import clock

_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{0,22})?([eE][+-]?[0-9]{1,2})?", re.ASCII)


def number_of(written: str) -> Decimal:
    return Decimal(written) if _NUMBER.fullmatch(written) else Decimal(0)


def moment_of(written: str) -> datetime | None:
    """A time without an offset is taken as UTC."""
    try:
        read = datetime.fromisoformat(written)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def timestamp(moment: datetime | None) -> str:
    return "" if moment is None else clock.written(moment)
