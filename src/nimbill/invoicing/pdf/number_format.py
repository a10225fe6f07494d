"""Amounts, rates and dates as they are written on paper; exact digits, never a float."""

from decimal import Decimal

from nimbill.foundation.vocabulary import Currency, Language
from nimbill.invoicing.pdf.wording import MONTHS

DECIMALS = {Currency.jpy: 0, Currency.usd: 2}
SIGNS = {Currency.jpy: "¥", Currency.usd: "$"}


def amount(value: Decimal, currency: Currency, language: Language) -> str:
    """A printed amount in a column that names its currency: 1,234 or ▲1,234 or -1,234.50."""
    return _signed(value, f"{value.copy_abs():,.{DECIMALS[currency]}f}", language)


def money(value: Decimal, currency: Currency, language: Language) -> str:
    """An amount that stands alone, with the sign of its currency."""
    digits = f"{SIGNS[currency]}{value.copy_abs():,.{DECIMALS[currency]}f}"
    return _signed(value, digits, language)


def original(value: Decimal, currency: Currency, language: Language) -> str:
    """An amount as somebody else stated it: every digit, and the currency by its code."""
    return f"{currency.upper()} {_signed(value, _digits(value.copy_abs(), currency), language)}"


def unit(value: Decimal, currency: Currency, language: Language) -> str:
    """A price of one: every digit it has, at least those of its currency."""
    return _signed(value, _digits(value.copy_abs(), currency), language)


def plain(value: Decimal) -> str:
    """A rate or a quantity: its digits without idle zeros."""
    digits = f"{value:,f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def percent(rate: Decimal) -> str:
    return f"{plain(rate.scaleb(2))}%"


def width(figure: str) -> int:
    """In hundredths of the type's size: how much room it needs at most."""
    return sum(77 if sign.isdigit() else 35 if sign in ",.-" else 100 for sign in figure)


def day(date: str, language: Language) -> str:
    """yyyy-mm-dd as it is read aloud."""
    year, month, number = (int(part) for part in date.split("-"))
    if language is Language.ja:
        return f"{year}年{month}月{number}日"
    return f"{number} {MONTHS[month - 1]} {year}"


def month(date: str, language: Language) -> str:
    """yyyy-mm likewise."""
    year, number = (int(part) for part in date.split("-"))
    return f"{year}年{number}月" if language is Language.ja else f"{MONTHS[number - 1]} {year}"


def _digits(value: Decimal, currency: Currency) -> str:
    whole, _, rest = f"{value:,f}".partition(".")
    rest = rest.rstrip("0").ljust(DECIMALS[currency], "0")
    return f"{whole}.{rest}" if rest else whole


def _signed(value: Decimal, digits: str, language: Language) -> str:
    """What is taken off is marked the way accountants of the language mark it."""
    if value >= 0:
        return digits
    return f"▲{digits}" if language is Language.ja else f"-{digits}"
