"""Exact amounts and the one way to round them; a binary float is refused."""

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

from nimbill.foundation.basis import chosen
from nimbill.foundation.vocabulary import Currency

basis = chosen("invoice-arithmetic")


class Rounding(StrEnum):
    """Applied to the absolute value: a credit is rounded as the charge that it takes back."""

    half_up = "half_up"
    down = "down"
    up = "up"


# how decimals call these: a half goes away from zero, down is towards it, up away from it
_MODES = {
    Rounding.half_up: ROUND_HALF_UP,
    Rounding.down: ROUND_DOWN,
    Rounding.up: ROUND_UP,
}
UNITS = {Currency.jpy: Decimal(1), Currency.usd: Decimal("0.01")}  # whole yen, cents
_READABLE = Decimal("0.0000000001")  # ten decimals

# Whatever would lose a digit raises instead; no sum of money comes near so many digits.
_EXACT = Context(prec=100_000, traps=[Inexact, InvalidOperation])
_add, _subtract, _multiply = _EXACT.add, _EXACT.subtract, _EXACT.multiply
_ROUNDING = Context(prec=100_000, traps=[InvalidOperation])


class Exact:
    """An amount that can be divided without a loss: a decimal, over a number above zero.

    It is not reduced to lowest terms: that takes ten times as long as the sum itself, and nobody
    looks at the two numbers.
    """

    __slots__ = ("bottom", "top")

    def __init__(self, top: Decimal, bottom: int = 1) -> None:
        self.top, self.bottom = top, bottom

    def __add__(self, other: "Exact") -> "Exact":
        if self.bottom == other.bottom:
            return Exact(_add(self.top, other.top), self.bottom)
        bottom = lcm(self.bottom, other.bottom)
        here = _multiply(self.top, bottom // self.bottom)
        return Exact(_add(here, _multiply(other.top, bottom // other.bottom)), bottom)

    def __sub__(self, other: "Exact") -> "Exact":
        return self + Exact(other.top.copy_negate(), other.bottom)

    def __mul__(self, other: "Exact") -> "Exact":
        return Exact(_multiply(self.top, other.top), self.bottom * other.bottom)

    def __truediv__(self, other: "Exact") -> "Exact":
        if not other.top:
            raise ZeroDivisionError("an amount divided by nothing")
        over, under = other.top.as_integer_ratio()
        times = under * other.bottom if over > 0 else -under * other.bottom
        return Exact(_multiply(self.top, times), self.bottom * abs(over))

    def __lt__(self, other: "Exact") -> bool:
        return (self - other).top < 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Decimal):  # asked of every printed amount
            return self.top == (other if self.bottom == 1 else _multiply(other, self.bottom))
        if not isinstance(other, (Exact, int, Fraction)):
            return NotImplemented
        return not self - exact(other)

    __hash__ = None  # type: ignore[assignment]  # equal ones may be written differently

    def __bool__(self) -> bool:
        return bool(self.top)

    def __repr__(self) -> str:
        return f"Exact({self.top}, {self.bottom})"


def exact(amount: Exact | Decimal | Fraction | int) -> Exact:
    """The same amount, as what can also be divided without a loss."""
    if isinstance(amount, Decimal) and amount.is_finite():
        return Exact(amount)
    if isinstance(amount, Exact):
        return amount
    if isinstance(amount, (int, Fraction)):
        return Exact(Decimal(amount.numerator), amount.denominator)
    raise TypeError(f"money is exact; {type(amount).__name__} is not")


ZERO, ONE = exact(0), exact(1)


def exchanged(amount: Exact, of: Currency, into: Currency, rate: Exact) -> Exact:
    """At a rate of so many yen for one dollar; exact, also where it is divided by."""
    if of is into:
        return amount
    return amount * rate if into is Currency.jpy else amount / rate


def rounded(amount: Exact, currency: Currency, mode: Rounding) -> Decimal:
    """To whole yen or cents. Every printed amount comes from here, once."""
    return _in_units(amount, UNITS[currency], _MODES[mode])


def cut(amount: Exact) -> Decimal:
    """For reading, not for reckoning: what lies behind the tenth decimal is left off."""
    return _in_units(amount, _READABLE, ROUND_DOWN)


def readable(amount: Exact) -> str:
    """The digits of `cut` without idle zeros, and dots where some were left off."""
    shown = cut(amount)
    text = f"{shown:f}".rstrip("0").rstrip(".")
    return text if amount == shown else f"{text}..."


def sum_of(amounts: Iterable[Exact]) -> Exact:
    return sum(amounts, ZERO)


def total_of(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum of decimals, however many digits it has."""
    return reduce(_add, amounts, Decimal(0))


def difference(amount: Decimal, less: Decimal) -> Decimal:
    return _subtract(amount, less)


def _in_units(amount: Exact, unit: Decimal, mode: str) -> Decimal:
    """Rounded once, and never to less than nothing by its sign alone."""
    if amount.bottom == 1:
        found = amount.top.quantize(unit, mode, _ROUNDING)
    else:
        found = _divided(amount, unit, mode)
    return found or found.copy_abs()


def _divided(amount: Exact, unit: Decimal, mode: str) -> Decimal:
    """Decided by what is left of the division, which no decimal may be able to hold."""
    over, under = amount.top.as_integer_ratio()
    parts = under * amount.bottom
    whole, rest = divmod(abs(over) * unit.as_integer_ratio()[1], parts)
    away = rest > 0 if mode == ROUND_UP else mode == ROUND_HALF_UP and 2 * rest >= parts
    found = _multiply(Decimal(whole + away), unit)
    return found.copy_negate() if over < 0 else found
