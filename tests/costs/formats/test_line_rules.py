"""How numbers, dates and currencies of cost files are read, and what is refused."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.costs.formats.line_rules import (
    RULES,
    RuleBroken,
    currency,
    moment,
    month_of,
    number,
    refusal,
    whole_number,
)


@pytest.mark.parametrize(
    ("written", "value"),
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
def test_a_number_is_taken_as_written(written: str, value: str) -> None:
    assert number(written) == Decimal(value)


@pytest.mark.parametrize(
    "written",
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
def test_what_is_no_plain_number_is_refused(written: str) -> None:
    with pytest.raises(RuleBroken, match=r"^number$"):
        number(written)


@pytest.mark.parametrize("written", ["1e16", "10000000000000000", "-1e16", "1e400"])
def test_ten_to_the_sixteenth_is_too_much(written: str) -> None:
    with pytest.raises(RuleBroken, match=r"^number_range$"):
        number(written)


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=22, min_value=-(10**9), max_value=10**9
    )
)
def test_a_number_of_22_decimals_keeps_every_digit(value: Decimal) -> None:
    assert number(str(value)) == value


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-09-01T00:00:00Z", datetime(2026, 9, 1, tzinfo=UTC)),
        ("2026-09-01 13:00:00+00:00", datetime(2026, 9, 1, 13, tzinfo=UTC)),
        ("2024-09-01 00:00:00", datetime(2024, 9, 1, tzinfo=UTC)),
        ("2024-09-18T22:00:00.123Z", datetime(2024, 9, 18, 22, tzinfo=UTC)),
        ("2022-11-03", datetime(2022, 11, 3, tzinfo=UTC)),
        ("09/21/2023", datetime(2023, 9, 21, tzinfo=UTC)),  # month first
        ("9/1/2023 0:00", datetime(2023, 9, 1, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_dates_are_read_in_every_dialect_in_utc(written: str, read: datetime) -> None:
    assert moment(written) == read


@pytest.mark.parametrize(
    "written",
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
    ],
)
def test_what_is_no_date_is_refused(written: str) -> None:
    with pytest.raises(RuleBroken, match=r"^moment$"):
        moment(written)


def test_a_month_is_that_of_its_moment() -> None:
    assert month_of("05/01/2021") == "2021-05"


def test_a_currency_is_three_letters_in_capitals() -> None:
    assert currency("nok") == "NOK"
    for written in ("MC", "USDX", "U$D", "", "ＵＳＤ"):
        with pytest.raises(RuleBroken, match=r"^currency$"):
            currency(written)


def test_a_count_may_be_written_with_a_point() -> None:
    assert [whole_number(text) for text in ("3", "3.0", "3.5", "", "-1", "x")] == [
        3,
        3,
        None,
        None,
        None,
        None,
    ]


def test_a_refusal_says_where_and_which_rule() -> None:
    broken = refusal("part-1.csv", "number", line=7, column="Cost")

    assert (broken.file, broken.line, broken.column, broken.rule) == (
        "part-1.csv",
        7,
        "Cost",
        "number",
    )
    assert broken.detail == RULES["number"]
