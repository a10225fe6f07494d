"""Splits instances and fees of a reservation between its owner and the customers of its moves."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from nimbill.foundation.basis import chosen

basis = chosen("reserved-instance-moves")

DECIMALS = 10


def limit_moves(total: int, moved: Sequence[int]) -> list[int]:
    """How many instances each move has; the oldest move comes first.

    A reservation may shrink below the number of moved instances: then the newest moves are cut.
    """
    remaining, numbers = total, []
    for number in moved:
        numbers.append(min(number, remaining))
        remaining -= numbers[-1]
    return numbers


def split_fee(fee: Decimal, total: int, moved: Sequence[int]) -> list[Decimal]:
    """The part of the fee for each move: fee × number / total, to 10 decimals, half up.

    The owner keeps what rounding leaves over.
    """
    return [
        _round_half_up(Fraction(fee) * number / total) if number else Decimal(0) for number in moved
    ]


def _round_half_up(amount: Fraction) -> Decimal:
    """Round the absolute value half up in one step, so that nothing is rounded twice."""
    scaled = abs(amount) * 10**DECIMALS
    rounded = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    digits = tuple(int(digit) for digit in str(rounded))
    return Decimal((int(amount < 0), digits, -DECIMALS))
