"""Rules for the lines of a cost file, and the parsers of amounts, times and currencies."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

from nimbill.costs.cost_file_error import CostFileError, printable_excerpt
from nimbill.foundation.basis import chosen

basis = chosen("cost-lines")
months_basis = chosen("one-month-per-delivery")

RULES = {
    "amortised": "This {} ({}) contains amortised costs: {}. Instead, import {}.",
    "column_missing": "The header lacks this column of the {}.",
    "column_type": "The type of this column is not supported.",
    "column_twice": "The header contains this column twice.",
    "columns": "The number of columns in this line differs from the header.",
    "credits": "Credits must be a list of objects with a decimal number as amount.",
    "currency": "A currency code has three letters.",
    "empty": "This column requires a value.",
    "encoding": "The file is not encoded in UTF-8.",
    "invoice_month": "An invoice month must be written yyyymm.",
    "json": "The line is not a JSON object of this export.",
    "line_too_long": "A line is longer than 4 MiB.",
    "moment": "A date must be written YYYY-MM-DD or MM/DD/YYYY, with or without a time.",
    "month": "The line belongs to the billing month {}; the import is for {}.",
    "nul": "The file contains a NUL character.",
    "number": "A cost must be a plain decimal number.",
    "number_range": "A cost must be below 10^16.",
    "several_months": "There are lines of several billing months ({}); {}.",
    "unknown_format": "The header matches no supported format. {}.",
    "unreadable": "The file cannot be read.",
    "vendor": "This is an {} of the vendor {}; the import is for the vendor {}.",
    "vendor_absent": "There are no lines of the vendor {}; there are lines of {}.",
}

VALUE_LENGTH_MAX = 300  # of a value in a text, for example a list of columns
SCALE = 22
CACHE_SIZE = 4096
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_LENGTH_MAX = 1000  # a longer text is not a cost, and parsing it would take long
_ISO_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?)?"
    r"(?: ?(Z|UTC|[+-]00:?00))?",
    re.ASCII,
)
_US_TIME = re.compile(
    r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})"
    r"(?: ([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?: ?([AaPp])[Mm])?)?",
    re.ASCII,
)
_CURRENCY = re.compile(r"[A-Za-z]{3}", re.ASCII)


class RuleViolation(ValueError):
    """A value violates the rule with this name."""


def line_error(
    file: str, rule: str, *values: str, line: int | None = None, column: str | None = None
) -> CostFileError:
    """Fill the text of the rule with the values; these may come from files and are cleaned."""
    texts = (printable_excerpt(value, VALUE_LENGTH_MAX) for value in values)
    return CostFileError(file, rule, RULES[rule].format(*texts), line=line, column=column)


def parse_amount(text: str) -> Decimal:
    """Digits beyond the 22nd decimal place are rounded half up."""
    if len(text) > _LENGTH_MAX or not _NUMBER.fullmatch(text):
        raise RuleViolation("number")
    value = Decimal(text)
    if value and value.adjusted() >= 38 - SCALE:
        raise RuleViolation("number_range")
    if value.adjusted() < -SCALE - 1:
        return Decimal(0)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # the pattern excludes NaN
    if -exponent <= SCALE:
        return value
    rounded = _round_half_up(int("".join(map(str, digits))), -exponent - SCALE)
    return Decimal((sign, tuple(map(int, str(rounded))), -SCALE))


def _round_half_up(number: int, dropped_digits: int) -> int:
    """Integer arithmetic is independent of the decimal context's precision."""
    unit: int = 10**dropped_digits
    quotient, remainder = divmod(number, unit)
    return quotient + int(2 * remainder >= unit)


# the hours of a month occur again in every batch
@lru_cache(maxsize=CACHE_SIZE)
def parse_time(text: str) -> datetime:
    """The vendors write UTC."""
    iso, us_time = _ISO_TIME.fullmatch(text), _US_TIME.fullmatch(text)
    try:
        if iso:
            year, month, day, hour, minute, second = (int(part or 0) for part in iso.groups()[:6])
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if us_time:
            month, day, year, hour, minute, second = (
                int(part or 0) for part in us_time.groups()[:6]
            )
            hour = _to_24_hours(hour, us_time[7])
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        pass
    raise RuleViolation("moment")


def _to_24_hours(hour: int, half: str | None) -> int:
    """`half` is a or p, of AM or PM; 12 AM is midnight."""
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if half in "pP" else 0)


@lru_cache(maxsize=CACHE_SIZE)
def parse_month(text: str) -> str:
    """Return the month (yyyy-mm) of a date or time."""
    return parse_time(text).strftime("%Y-%m")


def parse_currency(text: str) -> str:
    if not _CURRENCY.fullmatch(text):
        raise RuleViolation("currency")
    return text.upper()


def parse_count(text: str) -> int | None:
    """Some vendors write 2.0 for 2; return None if the text is not a count."""
    match = re.fullmatch(r"([0-9]{1,12})(?:\.0*)?", text, re.ASCII)
    return int(match[1]) if match else None
