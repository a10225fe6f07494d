"""Money is exact, and rounded in one way: to whole yen or cents, by the absolute value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.foundation.money import (
    Exact,
    Rounding,
    cut,
    difference,
    exact,
    exchanged,
    readable,
    rounded,
    sum_of,
    total_of,
)
from nimbill.foundation.vocabulary import Currency

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
        ("2.5", "3", "2", "3"),  # not to the even one
        ("-0.4", "0", "0", "-1"),
        ("-0.5", "-1", "0", "-1"),  # of the absolute value
        ("-2.5", "-3", "-2", "-3"),
        ("-3", "-3", "-3", "-3"),
        ("1e30", *["1" + "0" * 30] * 3),
        ("1234567890123456789012345678.5", f"{BIG}9", f"{BIG}8", f"{BIG}9"),  # beyond 28 digits
    ],
)
def test_whole_yen(amount: str, half_up: str, down: str, up: str) -> None:
    found = [str(rounded(exact(Decimal(amount)), YEN, mode)) for mode in Rounding]

    assert found == [half_up, down, up]


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
def test_cents(amount: Fraction, half_up: str, down: str, up: str) -> None:
    found = [str(rounded(exact(amount), DOLLARS, mode)) for mode in Rounding]

    assert found == [half_up, down, up]


def test_nothing_is_never_less_than_nothing() -> None:
    assert not rounded(exact(Fraction(-1, 1000)), DOLLARS, Rounding.half_up).is_signed()


@given(
    st.fractions(),
    st.sampled_from(Currency),
    st.sampled_from(Rounding),
)
def test_rounding_is_near_symmetric_and_leaves_alone_what_is_whole(
    amount: Fraction, currency: Currency, mode: Rounding
) -> None:
    found = Fraction(rounded(exact(amount), currency, mode))
    unit = Fraction(1, 100 if currency is DOLLARS else 1)

    assert abs(found - amount) < unit
    assert (found / unit).denominator == 1
    assert rounded(exact(-amount), currency, mode) == -found
    assert rounded(exact(found), currency, mode) == found
    if mode is Rounding.half_up:
        assert abs(found - amount) <= unit / 2
    if mode is Rounding.down:
        assert abs(found) <= abs(amount)
    if mode is Rounding.up:
        assert abs(found) >= abs(amount)


@given(st.fractions(), st.fractions(), st.sampled_from(Currency), st.sampled_from(Rounding))
def test_the_larger_amount_is_never_rounded_to_less(
    one: Fraction, other: Fraction, currency: Currency, mode: Rounding
) -> None:
    less, more = sorted([one, other])

    assert rounded(exact(less), currency, mode) <= rounded(exact(more), currency, mode)


@pytest.mark.parametrize("amount", [0.1, "1", None, 1j, Decimal("NaN"), Decimal("-Infinity")])
def test_what_is_not_exact_is_refused(amount: object) -> None:
    with pytest.raises(TypeError, match="money is exact"):
        exact(amount)  # type: ignore[arg-type]


@pytest.mark.parametrize("amount", [Decimal("0.1"), Fraction(1, 10)])
def test_what_is_exact_stays_so(amount: Decimal | Fraction) -> None:
    assert exact(amount) == Fraction(1, 10)
    assert exact(3) == Fraction(3)
    assert exact(exact(amount)) == amount


@given(st.fractions(), st.fractions())
def test_exact_amounts_are_reckoned_with_as_fractions_are(one: Fraction, other: Fraction) -> None:
    here, there = exact(one), exact(other)

    assert here + there == one + other
    assert here - there == one - other
    assert here * there == one * other
    assert (here < there) == (one < other)
    assert (here == there) == (one == other)
    assert bool(here) == bool(one)
    if other:
        assert here / there == one / other
        assert (here / there).bottom > 0


def test_nothing_is_divided_by_nothing() -> None:
    with pytest.raises(ZeroDivisionError):
        exact(1) / exact(0)


def test_equal_amounts_may_be_written_differently_and_so_are_no_keys() -> None:
    half, two_quarters = exact(Fraction(1, 2)), Exact(Decimal(2), 4)

    assert half == two_quarters == Decimal("0.5")
    assert not half != two_quarters  # noqa: SIM202  # what != says is another question
    assert half != "0.5"
    assert repr(two_quarters) == "Exact(2, 4)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(half)


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=22), max_size=50))
def test_adding_many_amounts_does_not_make_their_numbers_grow(amounts: list[Decimal]) -> None:
    rates = [exact(Decimal(rate)) for rate in ("149.87", "151.2", "150")]
    parts = [exact(amount) / rate for amount in amounts for rate in rates]

    assert sum_of(parts).bottom <= 14987 * 1512 * 150


def test_dollars_are_multiplied_and_yen_divided() -> None:
    rate, third = exact(Decimal("150.25")), exact(Fraction(7, 3))

    assert exchanged(exact(2), DOLLARS, YEN, rate) == Fraction(601, 2)
    assert exchanged(exact(1), YEN, DOLLARS, rate) == Fraction(4, 601)
    assert exchanged(third, YEN, YEN, rate) == Fraction(7, 3)
    assert exchanged(third, DOLLARS, DOLLARS, rate) == Fraction(7, 3)


@given(st.fractions(), st.fractions(min_value=Fraction(1, 1000)))
def test_there_and_back_is_the_same(amount: Fraction, rate: Fraction) -> None:
    there = exchanged(exact(amount), YEN, DOLLARS, exact(rate))

    assert exchanged(there, DOLLARS, YEN, exact(rate)) == amount


def test_sums_keep_every_digit() -> None:
    huge, tiny = Decimal("1e40"), Decimal("1e-40")

    assert total_of([huge, tiny, huge.copy_negate()]) == tiny
    assert exact(difference(huge, tiny)) == exact(huge) - exact(tiny)
    assert total_of([]) == 0
    assert sum_of([]) == 0
    assert sum_of([exact(Fraction(1, 3)), exact(Fraction(2, 3))]) == 1


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
def test_an_amount_for_reading(amount: Fraction, expected: str) -> None:
    assert readable(exact(amount)) == expected
    assert abs(Fraction(cut(exact(amount))) - amount) < Fraction(1, 10**10)
