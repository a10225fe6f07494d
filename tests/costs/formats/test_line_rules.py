"""Parsing of amounts, dates, currencies and counts in cost files."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.formats.line_rules import (
    RULES,
    RuleViolation,
    line_error,
    parse_amount,
    parse_count,
    parse_currency,
    parse_month,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0.0961234567", "0.0961234567"),
        ("9.2E-6", "0.0000092"),
        ("1e-06", "0.000001"),
        ("-12.5", "-12.5"),
        ("+1", "1"),
        ("1.", "1"),
        (".5", "0.5"),
        ("9999999999999999", "9999999999999999"),
        ("0.12345678901234567890125", "0.1234567890123456789013"),  # the 23rd decimal: half up
        ("-0.12345678901234567890125", "-0.1234567890123456789013"),  # away from zero
        ("0.12345678901234567890124", "0.1234567890123456789012"),
        ("1e-23", "0"),
        ("5e-23", "1e-22"),
        ("1e-400", "0"),
    ],
)
def test_a_number_is_parsed_exactly(text: str, amount: str) -> None:
    assert parse_amount(text) == Decimal(amount)


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "Infinity",
        "-inf",
        "1_000",
        " 1",
        "1 ",
        "$10,000.00 ",
        "1.234,56",
        "１２",
        "٣",
        "0x10",
        "",
        ".",
        "-",
        "1e",
        "e5",
        "--1",
        "1e1000000",
        "1,5",
        "1" * 1001,
    ],
)
def test_other_notations_are_refused(text: str) -> None:
    with pytest.raises(RuleViolation, match=r"^number$"):
        parse_amount(text)


@pytest.mark.parametrize("text", ["1e16", "10000000000000000", "-1e16", "1e400"])
def test_amounts_from_ten_to_the_sixteenth_are_refused(text: str) -> None:
    with pytest.raises(RuleViolation, match=r"^number_range$"):
        parse_amount(text)


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=22, min_value=-(10**9), max_value=10**9
    )
)
def test_22_decimals_are_kept(value: Decimal) -> None:
    assert parse_amount(str(value)) == value


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-09-01T00:00:00Z", datetime(2026, 9, 1, tzinfo=UTC)),
        ("2026-09-01 13:00:00+00:00", datetime(2026, 9, 1, 13, tzinfo=UTC)),
        ("2024-09-01 00:00:00", datetime(2024, 9, 1, tzinfo=UTC)),
        ("2024-09-18T22:00:00.123Z", datetime(2024, 9, 18, 22, tzinfo=UTC)),
        ("2022-11-03", datetime(2022, 11, 3, tzinfo=UTC)),
        ("09/21/2023", datetime(2023, 9, 21, tzinfo=UTC)),  # month first
        ("9/1/2023 0:00", datetime(2023, 9, 1, tzinfo=UTC)),
        ("9/30/2023 23:59", datetime(2023, 9, 30, 23, 59, tzinfo=UTC)),
        ("9/1/2023 12:00:00 AM", datetime(2023, 9, 1, tzinfo=UTC)),
        ("9/1/2023 12:30:01 pm", datetime(2023, 9, 1, 12, 30, 1, tzinfo=UTC)),
        ("9/1/2023 11:59:59 PM", datetime(2023, 9, 1, 23, 59, 59, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_dates_of_all_dialects_are_parsed_as_utc(text: str, time: datetime) -> None:
    assert parse_time(text) == time


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023-02-29",
        "13/01/2023",
        "2023-13-01",
        "20230901",
        "2023-W01-1",
        "yesterday",
        "2026-09-01T00:00:00+09:00",
        "2026-09-01T25:00:00Z",
        "２０２６-09-01",
        "21.09.2023",
        "9/1/2023 24:00",
        "9/1/2023 13:00 PM",
        "9/1/2023 0:00 AM",
        "9/1/2023 1:00 XM",
    ],
)
def test_invalid_dates_are_refused(text: str) -> None:
    with pytest.raises(RuleViolation, match=r"^moment$"):
        parse_time(text)


def test_the_month_of_a_date_is_parsed() -> None:
    assert parse_month("05/01/2021") == "2021-05"


def test_a_currency_has_three_letters_and_becomes_upper_case() -> None:
    assert parse_currency("nok") == "NOK"
    for text in ("MC", "USDX", "U$D", "", "ＵＳＤ"):
        with pytest.raises(RuleViolation, match=r"^currency$"):
            parse_currency(text)


def test_a_count_may_have_a_decimal_point() -> None:
    assert [parse_count(text) for text in ("3", "3.0", "3.5", "", "-1", "x")] == [
        3,
        3,
        None,
        None,
        None,
        None,
    ]


def test_a_line_error_has_location_and_rule() -> None:
    error = line_error("part-1.csv", "number", line=7, column="Cost")

    assert (error.file, error.line, error.column, error.rule) == (
        "part-1.csv",
        7,
        "Cost",
        "number",
    )
    assert error.detail == RULES["number"]
