"""Splitting instances and fees: worked examples, and comparison with exact fractions."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.adjustments.reserved_instances.split_rules import limit_moves, split_fee


@pytest.mark.parametrize(
    ("total", "moved", "expected"),
    [
        (10, [], []),
        (10, [4, 3], [4, 3]),
        (10, [4, 6], [4, 6]),
        (5, [4, 3], [4, 1]),
        (4, [4, 3, 2], [4, 0, 0]),
        (3, [4, 3], [3, 0]),
        (0, [4, 3], [0, 0]),
    ],
)
def test_the_oldest_moves_are_served_first(
    total: int, moved: list[int], expected: list[int]
) -> None:
    assert limit_moves(total, moved) == expected


@pytest.mark.parametrize(
    ("fee", "total", "moved", "expected"),
    [
        ("100", 10, [4, 3], ["40", "30"]),
        ("100", 3, [1, 1, 1], ["33.3333333333"] * 3),
        ("200", 3, [1], ["66.6666666667"]),
        ("-100", 3, [1], ["-33.3333333333"]),
        ("0.0000000001", 2, [1], ["0.0000000001"]),  # a tie is rounded up
        ("-0.0000000001", 2, [1], ["-0.0000000001"]),  # of the absolute value
        ("0.00000000009999999999", 2, [1], ["0"]),  # below a tie it is not
        ("149.775379", 10, [3], ["44.9326137"]),
        ("1234567890123456.0123456789012345678901", 1, [1], ["1234567890123456.0123456789"]),
        ("100", 0, [0], ["0"]),
        ("0", 7, [3], ["0"]),
    ],
)
def test_a_share_is_rounded_once_half_up_to_ten_decimals(
    fee: str, total: int, moved: list[int], expected: list[str]
) -> None:
    assert split_fee(Decimal(fee), total, moved) == [Decimal(share) for share in expected]


FEES = st.decimals(
    min_value=Decimal("-1e16"), max_value=Decimal("1e16"), allow_nan=False, places=22
)


@given(FEES, st.integers(1, 10**6), st.lists(st.integers(1, 10**6), max_size=8))
def test_split_of_any_fee_and_moves(fee: Decimal, total: int, moved: list[int]) -> None:
    numbers = limit_moves(total, moved)
    shares = split_fee(fee, total, numbers)

    assert all(0 <= number <= limit for number, limit in zip(numbers, moved, strict=True))
    assert sum(numbers) == min(total, sum(moved))
    assert all(number == limit for number, limit in zip(numbers, moved, strict=True)) or (
        sum(numbers) == total
    )
    for share, number in zip(shares, numbers, strict=True):
        exact = Fraction(fee) * number / total
        assert abs(Fraction(share) - exact) <= Fraction(1, 2 * 10**10)
        assert abs(share) == 0 or (share < 0) == (fee < 0)
        exponent = share.as_tuple().exponent
        assert isinstance(exponent, int)
        assert exponent >= -10
