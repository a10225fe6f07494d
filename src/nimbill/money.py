"""Exact amounts and the one way to round them; a binary float is refused."""

from collections.abc import Iterable
from decimal import Context, Decimal, Inexact, InvalidOperation
from enum import StrEnum
from fractions import Fraction

from nimbill.basis import chosen
from nimbill.vocabulary import Currency

basis = chosen("invoice-arithmetic")


class Rounding(StrEnum):
    """Applied to the absolute value: a credit is rounded as the charge that it takes back."""

    half_up = "half_up"
    down = "down"
    up = "up"


PLACES = {Currency.jpy: 0, Currency.usd: 2}  # whole yen, cents
READABLE_PLACES = 10

# An addition that would lose a digit raises instead.
_ADDING = Context(prec=1000, traps=[Inexact, InvalidOperation])


def exact(amount: Decimal | Fraction | int) -> Fraction:
    """The same amount, as what can also be divided without a loss."""
    if not isinstance(amount, (Decimal, Fraction, int)):
        raise TypeError(f"money is exact; {type(amount).__name__} is not")
    return Fraction(amount)


def exchanged(amount: Fraction, of: Currency, into: Currency, rate: Fraction) -> Fraction:
    """At a rate of so many yen for one dollar; exact, also where it is divided by."""
    if of is into:
        return amount
    return amount * rate if into is Currency.jpy else amount / rate


def rounded(amount: Fraction, currency: Currency, mode: Rounding) -> Decimal:
    """To whole yen or cents. Every printed amount comes from here, once."""
    return _scaled(amount, PLACES[currency], mode)


def cut(amount: Fraction) -> Decimal:
    """For reading, not for reckoning: what lies behind the tenth decimal is left off."""
    return _scaled(amount, READABLE_PLACES, Rounding.down)


def readable(amount: Fraction) -> str:
    """The digits of `cut` without idle zeros, and dots where some were left off."""
    shown = cut(amount)
    digits = f"{shown:f}".rstrip("0").rstrip(".")
    return digits if shown == amount else f"{digits}..."


def sum_of(amounts: Iterable[Fraction]) -> Fraction:
    return sum(amounts, Fraction(0))


def total_of(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum of decimals, however many digits it has."""
    total = Decimal(0)
    for amount in amounts:
        total = _ADDING.add(total, amount)
    return total


def difference(amount: Decimal, less: Decimal) -> Decimal:
    return _ADDING.subtract(amount, less)


def _scaled(amount: Fraction, places: int, mode: Rounding) -> Decimal:
    top, bottom = abs(amount.numerator) * 10**places, amount.denominator
    if mode is Rounding.half_up:
        whole = (2 * top + bottom) // (2 * bottom)
    elif mode is Rounding.up:
        whole = -(-top // bottom)
    else:
        whole = top // bottom
    sign = "-" if amount.numerator < 0 and whole else ""
    return Decimal(f"{sign}{whole}E-{places}")
