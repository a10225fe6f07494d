"""Formatting of amounts, rates and dates on printed invoices."""

from decimal import Decimal

import pytest

from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.pdf import number_format

JA, EN, JPY, USD = Language.ja, Language.en, Currency.jpy, Currency.usd


@pytest.mark.parametrize(
    ("value", "currency", "language", "shown"),
    [
        ("0", JPY, JA, "0"),
        ("1234567", JPY, JA, "1,234,567"),
        ("-1234", JPY, JA, "▲1,234"),
        ("-1234", JPY, EN, "-1,234"),
        ("1E+6", JPY, EN, "1,000,000"),
        ("0.5", USD, EN, "0.50"),
        ("-1234.56", USD, JA, "▲1,234.56"),
        (
            "123456789012345678901234567890.12",
            USD,
            EN,
            "123,456,789,012,345,678,901,234,567,890.12",
        ),
    ],
)
def test_an_amount_is_printed_with_all_digits(
    value: str, currency: Currency, language: Language, shown: str
) -> None:
    assert number_format.format_amount(Decimal(value), currency, language) == shown


def test_the_currency_sign_follows_the_minus_sign() -> None:
    assert number_format.format_money(Decimal(-5), JPY, JA) == "▲¥5"
    assert number_format.format_money(Decimal("-5.5"), USD, EN) == "-$5.50"


def test_original_amounts_keep_their_digits_and_have_a_currency_code() -> None:
    assert number_format.format_original(Decimal("672.000"), USD, EN) == "USD 672.00"
    assert number_format.format_original(Decimal("-0.12345"), USD, JA) == "USD ▲0.12345"
    assert number_format.format_original(Decimal(1000), JPY, EN) == "JPY 1,000"
    assert number_format.format_unit_price(Decimal("10.50"), JPY, EN) == "10.5"


@pytest.mark.parametrize(
    ("value", "shown"),
    [("150.2500", "150.25"), ("150", "150"), ("1E+2", "100"), ("1000.0", "1,000"), ("0.0", "0")],
)
def test_a_rate_has_no_trailing_zeros(value: str, shown: str) -> None:
    assert number_format.format_plain(Decimal(value)) == shown


@pytest.mark.parametrize(
    ("rate", "shown"),
    [("0.1", "10%"), ("0.08", "8%"), ("0.10", "10%"), ("0", "0%"), ("0.078", "7.8%")],
)
def test_a_tax_rate_is_printed_in_percent(rate: str, shown: str) -> None:
    assert number_format.format_percent(Decimal(rate)) == shown


def test_dates_and_months_are_spelled_out() -> None:
    assert number_format.format_date("2026-02-09", JA) == "2026年2月9日"
    assert number_format.format_date("2026-02-09", EN) == "9 February 2026"
    assert number_format.format_month("2026-12", JA) == "2026年12月"
    assert number_format.format_month("2026-12", EN) == "December 2026"
