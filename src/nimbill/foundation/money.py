"""Exact decimal arithmetic for money, and its rounding; binary floats are refused."""

from collections.abc import Iterable
from decimal import (
    ROUND_DOWN,
    ROUND_HALF_UP,
    ROUND_UP,
    Context,
    Decimal,
    Inexact,
    InvalidOperation,
)
from enum import StrEnum
from fractions import Fraction
from functools import reduce
from math import lcm

from nimbill.foundation.currency import Currency


class Rounding(StrEnum):
    """Applies to the absolute value, so that a credit is rounded like the charge it cancels."""

    half_up = "half_up"
    down = "down"
    up = "up"


# The decimal module names modes by the absolute value too: down is towards zero, up away from it.
_MODES = {
    Rounding.half_up: ROUND_HALF_UP,
    Rounding.down: ROUND_DOWN,
    Rounding.up: ROUND_UP,
}
CURRENCY_UNITS = {Currency.jpy: Decimal(1), Currency.usd: Decimal("0.01")}  # whole yen, cents
_DISPLAY_UNIT = Decimal("0.0000000001")
_QUOTIENT_UNIT = Decimal("1e-30")

# The default context keeps 28 digits. This one raises an error instead of losing a digit.
_EXACT = Context(prec=100_000, traps=[Inexact, InvalidOperation])
_add, _subtract, _multiply = _EXACT.add, _EXACT.subtract, _EXACT.multiply
_ROUNDING = Context(prec=100_000, traps=[InvalidOperation])
_DIVISION = Context(prec=100)


class ExactAmount:
    """A decimal divided by a positive integer, so that division loses no digit.

    It is not reduced to lowest terms, because that takes ten times as long as the sum itself.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: Decimal, denominator: int = 1) -> None:
        self.numerator, self.denominator = numerator, denominator

    def __add__(self, other: "ExactAmount") -> "ExactAmount":
        if self.denominator == other.denominator:
            return ExactAmount(_add(self.numerator, other.numerator), self.denominator)
        denominator = lcm(self.denominator, other.denominator)
        own_part = _multiply(self.numerator, denominator // self.denominator)
        other_part = _multiply(other.numerator, denominator // other.denominator)
        return ExactAmount(_add(own_part, other_part), denominator)

    def __sub__(self, other: "ExactAmount") -> "ExactAmount":
        return self + ExactAmount(other.numerator.copy_negate(), other.denominator)

    def __mul__(self, other: "ExactAmount") -> "ExactAmount":
        return ExactAmount(
            _multiply(self.numerator, other.numerator), self.denominator * other.denominator
        )

    def multiply(self, factor: Decimal) -> "ExactAmount":
        """Like `self * to_exact(factor)`, for loops over many amounts."""
        return ExactAmount(_multiply(self.numerator, factor), self.denominator)

    def __truediv__(self, other: "ExactAmount") -> "ExactAmount":
        if not other.numerator:
            raise ZeroDivisionError("division of an amount by zero")
        numerator, denominator = other.numerator.as_integer_ratio()
        factor = denominator * other.denominator
        signed_factor = factor if numerator > 0 else -factor
        return ExactAmount(
            _multiply(self.numerator, signed_factor), self.denominator * abs(numerator)
        )

    def __lt__(self, other: "ExactAmount") -> bool:
        return (self - other).numerator < 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Decimal):  # the frequent case, without a conversion
            return self.numerator == (
                other if self.denominator == 1 else _multiply(other, self.denominator)
            )
        if not isinstance(other, (ExactAmount, int, Fraction)):
            return NotImplemented
        return not self - to_exact(other)

    __hash__ = None  # type: ignore[assignment]  # equal amounts may have different denominators

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __repr__(self) -> str:
        return f"ExactAmount({self.numerator}, {self.denominator})"


def to_exact(amount: ExactAmount | Decimal | Fraction | int) -> ExactAmount:
    if isinstance(amount, Decimal) and amount.is_finite():
        return ExactAmount(amount)
    if isinstance(amount, ExactAmount):
        return amount
    if isinstance(amount, (int, Fraction)):
        return ExactAmount(Decimal(amount.numerator), amount.denominator)
    raise TypeError(f"money must be a finite Decimal, Fraction or int, not {type(amount).__name__}")


ZERO, ONE = to_exact(0), to_exact(1)


def convert_currency(
    amount: ExactAmount, source: Currency, target: Currency, rate: ExactAmount
) -> ExactAmount:
    """Convert at `rate` yen per dollar, without rounding."""
    if source is target:
        return amount
    return amount * rate if target is Currency.jpy else amount / rate


def round_amount(amount: ExactAmount, currency: Currency, mode: Rounding) -> Decimal:
    """Round to whole yen or cents. Every printed amount is rounded here, once."""
    return _round_to_unit(amount, CURRENCY_UNITS[currency], _MODES[mode])


def truncate_amount(amount: ExactAmount) -> Decimal:
    """Cut off after ten decimals, for display only."""
    return _round_to_unit(amount, _DISPLAY_UNIT, ROUND_DOWN)


def expand_amount(amount: ExactAmount) -> Decimal:
    """All digits of the amount, without trailing zeros; a quotient is cut off after 30 decimals."""
    if amount.denominator == 1:
        return strip_zeros(amount.numerator)
    return strip_zeros(_round_to_unit(amount, _QUOTIENT_UNIT, ROUND_DOWN))


def strip_zeros(amount: Decimal) -> Decimal:
    """Remove trailing zeros of the fraction, without an exponent."""
    return Decimal(format_decimal(amount))


def format_amount(amount: ExactAmount) -> str:
    """Up to ten decimals without trailing zeros; "..." marks digits that were cut off."""
    truncated = truncate_amount(amount)
    text = f"{truncated:f}".rstrip("0").rstrip(".")
    return text if amount == truncated else f"{text}..."


def sum_exact(amounts: Iterable[ExactAmount]) -> ExactAmount:
    return sum(amounts, ZERO)


def sum_decimals(amounts: Iterable[Decimal]) -> Decimal:
    return reduce(_add, amounts, Decimal(0))


def add_decimals(amount: Decimal, other: Decimal) -> Decimal:
    return _add(amount, other)


def subtract_decimals(amount: Decimal, other: Decimal) -> Decimal:
    return _subtract(amount, other)


def normalize_decimal(amount: Decimal) -> Decimal:
    """Remove trailing zeros."""
    return _EXACT.normalize(amount)


def divide_decimals(amount: Decimal, divisor: Decimal, unit: Decimal) -> Decimal:
    """The quotient, rounded half up to a multiple of `unit`."""
    return _DIVISION.divide(amount, divisor).quantize(unit, ROUND_HALF_UP, _DIVISION)


def format_decimal(amount: Decimal) -> str:
    """All significant digits, without an exponent and without trailing zeros."""
    text = f"{amount:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _round_to_unit(amount: ExactAmount, unit: Decimal, mode: str) -> Decimal:
    """Round once; a result of zero has no minus sign."""
    if amount.denominator == 1:
        result = amount.numerator.quantize(unit, mode, _ROUNDING)
    else:
        result = _divide_to_unit(amount, unit, mode)
    return result or result.copy_abs()


def _divide_to_unit(amount: ExactAmount, unit: Decimal, mode: str) -> Decimal:
    """Round by the remainder of an integer division: the quotient may have no exact decimal."""
    numerator, power_of_ten = amount.numerator.as_integer_ratio()
    divisor = power_of_ten * amount.denominator
    quotient, remainder = divmod(abs(numerator) * unit.as_integer_ratio()[1], divisor)
    if mode == ROUND_UP:
        rounds_away = remainder > 0
    else:
        rounds_away = mode == ROUND_HALF_UP and 2 * remainder >= divisor
    result = _multiply(Decimal(quotient + rounds_away), unit)
    return result.copy_negate() if numerator < 0 else result
