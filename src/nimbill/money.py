"""Exact amounts and the one way to round them; a binary float is refused."""

from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from functools import reduce
from math import lcm

from nimbill.basis import chosen
from nimbill.vocabulary import Currency

basis = chosen("invoice-arithmetic")


class Rounding(StrEnum):
    """Applied to the absolute value: a credit is rounded as the charge that it takes back."""

    half_up = "half_up"
    down = "down"
    up = "up"


# by a name of their own: a word of an enumeration takes longer to find than to compare
_HALF_UP, _DOWN, _UP = Rounding.half_up, Rounding.down, Rounding.up

PLACES = {Currency.jpy: 0, Currency.usd: 2}  # whole yen, cents
READABLE_PLACES = 10
_READABLE = 10**READABLE_PLACES

# An addition that would lose a digit raises instead.
_ADDING = Context(prec=1000, traps=[Inexact, InvalidOperation])


class Exact:
    """An amount that can be divided without a loss, as the one number over the other.

    It is not reduced to lowest terms: that takes ten times as long as the sum itself, and nobody
    looks at the two numbers.
    """

    __slots__ = ("bottom", "top")

    def __init__(self, top: int, bottom: int = 1) -> None:
        self.top, self.bottom = top, bottom  # the bottom is above zero

    def __add__(self, other: "Exact") -> "Exact":
        if self.bottom == other.bottom:
            return Exact(self.top + other.top, self.bottom)
        bottom = lcm(self.bottom, other.bottom)
        here, there = bottom // self.bottom, bottom // other.bottom
        return Exact(self.top * here + other.top * there, bottom)

    def __sub__(self, other: "Exact") -> "Exact":
        return self + Exact(-other.top, other.bottom)

    def __mul__(self, other: "Exact") -> "Exact":
        return Exact(self.top * other.top, self.bottom * other.bottom)

    def __truediv__(self, other: "Exact") -> "Exact":
        if not other.top:
            raise ZeroDivisionError("an amount divided by nothing")
        top, bottom = self.top * other.bottom, self.bottom * other.top
        return Exact(top, bottom) if bottom > 0 else Exact(-top, -bottom)

    def __lt__(self, other: "Exact") -> bool:
        return self.top * other.bottom < other.top * self.bottom

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Exact, Decimal, int, Fraction)):
            return NotImplemented
        same = exact(other)
        return self.top * same.bottom == same.top * self.bottom

    __hash__ = None  # type: ignore[assignment]  # equal ones may be written differently

    def __bool__(self) -> bool:
        return self.top != 0

    def __repr__(self) -> str:
        return f"Exact({self.top}, {self.bottom})"


ZERO, ONE = Exact(0), Exact(1)


def exact(amount: Exact | Decimal | Fraction | int) -> Exact:
    """The same amount, as what can also be divided without a loss."""
    if isinstance(amount, (Decimal, int, Fraction)):
        return Exact(*amount.as_integer_ratio())
    if isinstance(amount, Exact):
        return amount
    raise TypeError(f"money is exact; {type(amount).__name__} is not")


def exchanged(amount: Exact, of: Currency, into: Currency, rate: Exact) -> Exact:
    """At a rate of so many yen for one dollar; exact, also where it is divided by."""
    if of is into:
        return amount
    return amount * rate if into is Currency.jpy else amount / rate


def rounded(amount: Exact, currency: Currency, mode: Rounding) -> Decimal:
    """To whole yen or cents. Every printed amount comes from here, once."""
    return _scaled(amount, PLACES[currency], mode)


def is_printable(amount: Exact, currency: Currency) -> bool:
    """Whether rounding it changes nothing."""
    unit: int = 10 ** PLACES[currency]
    return amount.top * unit % amount.bottom == 0


def cut(amount: Exact) -> Decimal:
    """For reading, not for reckoning: what lies behind the tenth decimal is left off."""
    return _scaled(amount, READABLE_PLACES, _DOWN)


def readable(amount: Exact) -> str:
    """The digits of `cut` without idle zeros, and dots where some were left off."""
    digits, rest = divmod(abs(amount.top) * _READABLE, amount.bottom)
    whole, behind = divmod(digits, _READABLE)
    sign = "-" if amount.top < 0 and digits else ""
    point = f".{behind + _READABLE}".replace(".1", ".", 1).rstrip("0") if behind else ""
    return f"{sign}{whole}{point}..." if rest else f"{sign}{whole}{point}"


def sum_of(amounts: Iterable[Exact]) -> Exact:
    return sum(amounts, ZERO)


def total_of(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum of decimals, however many digits it has."""
    return reduce(_ADDING.add, amounts, Decimal(0))


def difference(amount: Decimal, less: Decimal) -> Decimal:
    return _ADDING.subtract(amount, less)


def _scaled(amount: Exact, places: int, mode: Rounding) -> Decimal:
    top, bottom = abs(amount.top) * 10**places, amount.bottom
    if mode is _HALF_UP:
        whole = (2 * top + bottom) // (2 * bottom)
    elif mode is _UP:
        whole = -(-top // bottom)
    else:
        whole = top // bottom
    signed = -whole if amount.top < 0 else whole
    return Decimal(f"{signed}E-{places}") if places else Decimal(signed)
