"""Money: exact arithmetic, and rounding to whole yen or cents by the absolute value."""

from __future__ import annotations

from decimal import Decimal, Inexact, InvalidOperation
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    ExactAmount,
    Rounding,
    add_decimals,
    convert_currency,
    divide_decimals,
    expand_amount,
    format_amount,
    format_decimal,
    normalize_decimal,
    round_amount,
    subtract_decimals,
    sum_decimals,
    sum_exact,
    to_exact,
    truncate_amount,
)

BIG = "123456789012345678901234567"
YEN, DOLLARS = Currency.jpy, Currency.usd


@pytest.mark.parametrize(
    ("amount", "half_up", "down", "up"),
    [
        ("0", "0", "0", "0"),
        ("0.4", "0", "0", "1"),
        ("0.5", "1", "0", "1"),
        ("0.49999999999999999999999999999999999", "0", "0", "1"),
        ("1", "1", "1", "1"),
        ("2.5", "3", "2", "3"),  # not to the even neighbour
        ("-0.4", "0", "0", "-1"),
        ("-0.5", "-1", "0", "-1"),  # rounds the absolute value
        ("-2.5", "-3", "-2", "-3"),
        ("-3", "-3", "-3", "-3"),
        ("1e30", *["1" + "0" * 30] * 3),
        ("1234567890123456789012345678.5", f"{BIG}9", f"{BIG}8", f"{BIG}9"),  # beyond 28 digits
    ],
)
def test_yen_are_rounded_to_whole_units(amount: str, half_up: str, down: str, up: str) -> None:
    results = [str(round_amount(to_exact(Decimal(amount)), YEN, mode)) for mode in Rounding]

    assert results == [half_up, down, up]


@pytest.mark.parametrize(
    ("amount", "half_up", "down", "up"),
    [
        (Fraction(1, 3), "0.33", "0.33", "0.34"),
        (Fraction(2, 3), "0.67", "0.66", "0.67"),
        (Fraction(-1, 200), "-0.01", "0.00", "-0.01"),
        (Fraction(1, 200), "0.01", "0.00", "0.01"),
        (Fraction(5), "5.00", "5.00", "5.00"),
    ],
)
def test_dollars_are_rounded_to_cents(amount: Fraction, half_up: str, down: str, up: str) -> None:
    results = [str(round_amount(to_exact(amount), DOLLARS, mode)) for mode in Rounding]

    assert results == [half_up, down, up]


def test_a_rounded_zero_has_no_minus_sign() -> None:
    assert not round_amount(to_exact(Fraction(-1, 1000)), DOLLARS, Rounding.half_up).is_signed()


@given(
    st.fractions(),
    st.sampled_from(Currency),
    st.sampled_from(Rounding),
)
def test_rounding_is_close_symmetric_and_idempotent(
    amount: Fraction, currency: Currency, mode: Rounding
) -> None:
    result = Fraction(round_amount(to_exact(amount), currency, mode))
    unit = Fraction(1, 100 if currency is DOLLARS else 1)

    assert abs(result - amount) < unit
    assert (result / unit).denominator == 1
    assert round_amount(to_exact(-amount), currency, mode) == -result
    assert round_amount(to_exact(result), currency, mode) == result
    if mode is Rounding.half_up:
        assert abs(result - amount) <= unit / 2
    if mode is Rounding.down:
        assert abs(result) <= abs(amount)
    if mode is Rounding.up:
        assert abs(result) >= abs(amount)


@given(st.fractions(), st.fractions(), st.sampled_from(Currency), st.sampled_from(Rounding))
def test_rounding_keeps_the_order_of_amounts(
    first: Fraction, second: Fraction, currency: Currency, mode: Rounding
) -> None:
    smaller, larger = (to_exact(amount) for amount in sorted([first, second]))

    assert round_amount(smaller, currency, mode) <= round_amount(larger, currency, mode)


@pytest.mark.parametrize("amount", [0.1, "1", None, 1j, Decimal("NaN"), Decimal("-Infinity")])
def test_inexact_values_are_refused(amount: object) -> None:
    with pytest.raises(TypeError, match="money must be a finite Decimal"):
        to_exact(amount)  # type: ignore[arg-type]


@pytest.mark.parametrize("amount", [Decimal("0.1"), Fraction(1, 10)])
def test_exact_values_keep_their_value(amount: Decimal | Fraction) -> None:
    assert to_exact(amount) == Fraction(1, 10)
    assert to_exact(3) == Fraction(3)
    assert to_exact(to_exact(amount)) == amount


@given(st.fractions(), st.fractions())
def test_arithmetic_equals_that_of_fractions(first: Fraction, second: Fraction) -> None:
    left, right = to_exact(first), to_exact(second)

    assert left + right == first + second
    assert left - right == first - second
    assert left * right == first * second
    assert (left < right) == (first < second)
    assert (left == right) == (first == second)
    assert bool(left) == bool(first)
    if second:
        assert left / right == first / second
        assert (left / right).denominator > 0


def test_division_by_zero_is_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        to_exact(1) / to_exact(0)


def test_equal_amounts_may_have_different_denominators_and_are_unhashable() -> None:
    half, two_quarters = to_exact(Fraction(1, 2)), ExactAmount(Decimal(2), 4)

    assert half == two_quarters == Decimal("0.5")
    assert not half != two_quarters  # noqa: SIM202  # tests __ne__
    assert half != "0.5"
    assert repr(two_quarters) == "ExactAmount(2, 4)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(half)


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=22), max_size=50))
def test_the_denominator_of_a_sum_stays_small(amounts: list[Decimal]) -> None:
    rates = [to_exact(Decimal(rate)) for rate in ("149.87", "151.2", "150")]
    parts = [to_exact(amount) / rate for amount in amounts for rate in rates]

    assert sum_exact(parts).denominator <= 14987 * 1512 * 150


def test_dollars_are_multiplied_by_the_rate_and_yen_divided() -> None:
    rate, third = to_exact(Decimal("150.25")), to_exact(Fraction(7, 3))

    assert convert_currency(to_exact(2), DOLLARS, YEN, rate) == Fraction(601, 2)
    assert convert_currency(to_exact(1), YEN, DOLLARS, rate) == Fraction(4, 601)
    assert convert_currency(third, YEN, YEN, rate) == Fraction(7, 3)
    assert convert_currency(third, DOLLARS, DOLLARS, rate) == Fraction(7, 3)


def test_a_quotient_differs_from_another_in_the_last_of_50_digits() -> None:
    third = convert_currency(to_exact(1), YEN, DOLLARS, to_exact(3))

    assert third > to_exact(Decimal(f"0.{'3' * 50}"))
    assert third < to_exact(Decimal(f"0.{'3' * 49}4"))


@given(st.fractions(), st.fractions(min_value=Fraction(1, 1000)))
def test_converting_back_gives_the_same_amount(amount: Fraction, rate: Fraction) -> None:
    dollars = convert_currency(to_exact(amount), YEN, DOLLARS, to_exact(rate))

    assert convert_currency(dollars, DOLLARS, YEN, to_exact(rate)) == amount


def test_decimal_sums_keep_every_digit() -> None:
    huge, tiny = Decimal("1e40"), Decimal("1e-40")

    assert sum_decimals([huge, tiny, huge.copy_negate()]) == tiny
    assert subtract_decimals(add_decimals(huge, tiny), huge) == tiny
    assert to_exact(subtract_decimals(huge, tiny)) == to_exact(huge) - to_exact(tiny)
    assert sum_decimals([]) == 0
    assert sum_exact([]) == 0
    assert sum_exact([to_exact(Fraction(1, 3)), to_exact(Fraction(2, 3))]) == 1


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (Fraction(1, 3), "0.3333333333..."),
        (Fraction(-2, 3), "-0.6666666666..."),
        (Fraction(5, 2), "2.5"),
        (Fraction(100), "100"),
        (Fraction(0), "0"),
        (Fraction(1, 10**10), "0.0000000001"),
        (Fraction(1, 10**11), "0..."),
        (Fraction(-1, 10**11), "0..."),
        (Fraction(-1, 3 * 10**11), "0..."),
    ],
)
def test_amounts_are_displayed_with_up_to_ten_decimals(amount: Fraction, expected: str) -> None:
    assert format_amount(to_exact(amount)) == expected
    assert abs(Fraction(truncate_amount(to_exact(amount))) - amount) < Fraction(1, 10**10)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (Decimal("1E-35"), f"0.{'0' * 34}1"),
        (Decimal("2.50"), "2.5"),
        (Decimal("1E+2"), "100"),
        (Fraction(2, 3), f"0.{'6' * 30}"),
        (Fraction(-2, 3), f"-0.{'6' * 30}"),
    ],
)
def test_an_amount_shows_every_digit_and_a_quotient_thirty_decimals(
    amount: Decimal | Fraction, expected: str
) -> None:
    assert expand_amount(to_exact(amount)).as_tuple() == Decimal(expected).as_tuple()


def test_a_digit_that_does_not_fit_is_refused_instead_of_rounded() -> None:
    longest = Decimal("9" * 100_000)

    assert add_decimals(longest, Decimal(0)) == longest
    with pytest.raises(Inexact):
        add_decimals(longest, Decimal("0.1"))
    with pytest.raises(Inexact):
        add_decimals(longest.scaleb(1), Decimal(1))
    assert round_amount(to_exact(longest), YEN, Rounding.down) == longest
    with pytest.raises(InvalidOperation):
        round_amount(to_exact(longest), DOLLARS, Rounding.down)
    with pytest.raises(InvalidOperation):
        round_amount(to_exact(Decimal("9" * 100_001)), YEN, Rounding.down)
    assert divide_decimals(Decimal("1e99"), Decimal(1), Decimal(1)) == Decimal("1e99")
    with pytest.raises(InvalidOperation):
        divide_decimals(Decimal("1e100"), Decimal(1), Decimal(1))


def test_a_half_equals_its_decimal() -> None:
    assert to_exact(Fraction(1, 2)) == Decimal("0.5")
    assert to_exact(Fraction(1, 2)) != Decimal(1)


@pytest.mark.parametrize(
    ("amount", "divisor", "expected"),
    [("1", "3", "0.3333"), ("2", "3", "0.6667"), ("-1", "8", "-0.1250"), ("1", "20000", "0.0001")],
)
def test_a_quotient_is_rounded_half_up(amount: str, divisor: str, expected: str) -> None:
    quotient = divide_decimals(Decimal(amount), Decimal(divisor), Decimal("0.0001"))

    assert str(quotient) == expected


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("672.0000000000000000000000", "672"),
        ("-12.50", "-12.5"),
        ("9.2E-6", "0.0000092"),
        ("1E+3", "1000"),
        ("0.00", "0"),
        ("-0.00", "0"),
    ],
)
def test_a_decimal_is_formatted_without_exponent_and_trailing_zeros(
    amount: str, expected: str
) -> None:
    assert format_decimal(Decimal(amount)) == expected


def test_trailing_zeros_are_removed_and_no_digit_is_lost() -> None:
    long = "1.23456789012345678901234567890123456789"

    assert str(normalize_decimal(Decimal("1.500"))) == "1.5"
    assert str(normalize_decimal(Decimal(f"{long}00"))) == long


def test_an_amount_times_a_decimal_is_exact() -> None:
    third = to_exact(Decimal(1)) / to_exact(Decimal(3))

    assert third.multiply(Decimal("1.5")) == third * to_exact(Decimal("1.5"))
    assert expand_amount(third.multiply(Decimal(3))) == 1
