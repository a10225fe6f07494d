"""What a line of a cost file must be: how its numbers, moments and words are written."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

from nimbill.costs.cost_file_error import CostFileError
from nimbill.foundation.basis import chosen

basis = chosen("cost-lines")
months_basis = chosen("one-month-a-delivery")

RULES = {
    "amortised": "this is an amortised export; only actual costs are billed",
    "column_missing": "the header lacks this column",
    "column_twice": "the header has this column twice",
    "columns": "the line has more or fewer columns than the header",
    "currency": "a currency is three letters",
    "empty": "a value is needed here",
    "encoding": "the file is not UTF-8",
    "line_too_long": "a line is longer than 4 MiB",
    "moment": "a date is written YYYY-MM-DD or MM/DD/YYYY, with or without a time",
    "month": "the line belongs to another billing month than the one that is imported",
    "nul": "the file holds a NUL character",
    "number": "a cost is a plain decimal number",
    "number_range": "a cost is below 10^16",
    "several_months": "the file holds several billing months; a delivery is of one",
    "unknown_format": "the header is of no format we know",
    "unreadable": "the file cannot be read",
    "vendor": "the file is of another vendor than the one that was named",
    "vendor_absent": "the file holds no lines of the vendor that was named",
}

SCALE = 22
MOMENTS_KEPT = 4096
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_DIGITS_MAX = 1000  # beyond that it is no cost, and working with it only costs time
_MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?)?"
    r"(?: ?(Z|UTC|[+-]00:?00))?",
    re.ASCII,
)
_AMERICAN = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(?: 0{1,2}:00(?::00)?)?", re.ASCII)
_CURRENCY = re.compile(r"[A-Za-z]{3}", re.ASCII)


class RuleBroken(ValueError):
    """A value breaks the rule of this name."""


def refusal(
    file: str, rule: str, *, line: int | None = None, column: str | None = None
) -> CostFileError:
    return CostFileError(file, rule, RULES[rule], line=line, column=column)


def number(written: str) -> Decimal:
    """The number as kept; digits beyond the 22nd decimal are rounded half up."""
    if len(written) > _DIGITS_MAX or not _NUMBER.fullmatch(written):
        raise RuleBroken("number")
    value = Decimal(written)
    if value and value.adjusted() >= 38 - SCALE:
        raise RuleBroken("number_range")
    if value.adjusted() < -SCALE - 1:
        return Decimal(0)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # the pattern knows no NaN
    if -exponent <= SCALE:
        return value
    kept = _rounded(int("".join(map(str, digits))), -exponent - SCALE)
    return Decimal((sign, tuple(map(int, str(kept))), -SCALE))


def _rounded(digits: int, beyond: int) -> int:
    """Half up, whatever the precision of the moment's decimal context is."""
    unit: int = 10**beyond
    whole, rest = divmod(digits, unit)
    return whole + int(2 * rest >= unit)


# the hours of a month come back in every piece
@lru_cache(maxsize=MOMENTS_KEPT)
def moment(written: str) -> datetime:
    """In UTC, which is what the vendors write."""
    iso, american = _MOMENT.fullmatch(written), _AMERICAN.fullmatch(written)
    try:
        if iso:
            year, month, day, hour, minute, second = (int(part or 0) for part in iso.groups()[:6])
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if american:
            month, day, year = map(int, american.groups())
            return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        pass
    raise RuleBroken("moment")


@lru_cache(maxsize=MOMENTS_KEPT)
def month_of(written: str) -> str:
    """yyyy-mm of a moment as written."""
    return moment(written).strftime("%Y-%m")


def currency(written: str) -> str:
    if not _CURRENCY.fullmatch(written):
        raise RuleBroken("currency")
    return written.upper()


def whole_number(written: str) -> int | None:
    """A count, which some write 2.0; None where it is none."""
    match = re.fullmatch(r"([0-9]{1,12})(?:\.0*)?", written, re.ASCII)
    return int(match[1]) if match else None
