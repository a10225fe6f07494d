"""Formats amounts, rates and dates for printed invoices, from exact decimals."""

from decimal import Decimal

from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.pdf.labels import MONTHS

DECIMALS = {Currency.jpy: 0, Currency.usd: 2}
SIGNS = {Currency.jpy: "¥", Currency.usd: "$"}


def format_amount(value: Decimal, currency: Currency, language: Language) -> str:
    """An amount in a column whose heading names the currency: 1,234 or ▲1,234 or -1,234.50."""
    return _add_sign(value, f"{value.copy_abs():,.{DECIMALS[currency]}f}", language)


def format_money(value: Decimal, currency: Currency, language: Language) -> str:
    """An amount with its currency sign."""
    digits = f"{SIGNS[currency]}{value.copy_abs():,.{DECIMALS[currency]}f}"
    return _add_sign(value, digits, language)


def format_original(value: Decimal, currency: Currency, language: Language) -> str:
    """An amount as the vendor stated it: all digits, with the currency code."""
    return f"{currency.upper()} {format_unit_price(value, currency, language)}"


def format_unit_price(value: Decimal, currency: Currency, language: Language) -> str:
    """A unit price: all of its digits, and at least the decimals of the currency."""
    return _add_sign(value, _format_digits(value.copy_abs(), currency), language)


def format_plain(value: Decimal) -> str:
    """A rate or a quantity, without trailing zeros."""
    digits = f"{value:,f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def format_percent(rate: Decimal) -> str:
    return f"{format_plain(rate.scaleb(2))}%"


def estimate_width(figure: str) -> int:
    """The maximum width, in hundredths of the font size."""
    return sum(77 if char.isdigit() else 35 if char in ",.-" else 100 for char in figure)


def format_date(date: str, language: Language) -> str:
    """Format yyyy-mm-dd as 2026年2月9日 or 9 February 2026."""
    year, month, day = (int(part) for part in date.split("-"))
    if language is Language.ja:
        return f"{year}年{month}月{day}日"
    return f"{day} {MONTHS[month - 1]} {year}"


def format_month(date: str, language: Language) -> str:
    """Format yyyy-mm as 2026年2月 or February 2026."""
    year, month = (int(part) for part in date.split("-"))
    return f"{year}年{month}月" if language is Language.ja else f"{MONTHS[month - 1]} {year}"


def _format_digits(value: Decimal, currency: Currency) -> str:
    integer, _, decimals = f"{value:,f}".partition(".")
    decimals = decimals.rstrip("0").ljust(DECIMALS[currency], "0")
    return f"{integer}.{decimals}" if decimals else integer


def _add_sign(value: Decimal, digits: str, language: Language) -> str:
    """Mark negative amounts as accountants of the language do."""
    if value >= 0:
        return digits
    return f"▲{digits}" if language is Language.ja else f"-{digits}"
