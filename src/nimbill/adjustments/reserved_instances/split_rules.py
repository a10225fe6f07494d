"""How instances and fees of a reservation are split between its owner and those it was moved to."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from nimbill.foundation.basis import chosen

basis = chosen("reserved-instance-moves")

DECIMALS = 10


def honoured(total: int, moved: Sequence[int]) -> list[int]:
    """How many instances of each move there are, the oldest move first.

    A reservation may shrink below what was moved of it: then the youngest moves are cut.
    """
    left, found = total, []
    for number in moved:
        found.append(min(number, left))
        left -= found[-1]
    return found


def shares(fee: Decimal, total: int, moved: Sequence[int]) -> list[Decimal]:
    """What of the fee goes with each move: fee × number / total, to 10 decimals, half up.

    Whatever the rounding leaves stays with the owner.
    """
    return [_rounded(Fraction(fee) * number / total) if number else Decimal(0) for number in moved]


def _rounded(amount: Fraction) -> Decimal:
    """Half up of the absolute value, without a step in between that could round first."""
    scaled = abs(amount) * 10**DECIMALS
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    digits = tuple(int(digit) for digit in str(whole))
    return Decimal((int(amount < 0), digits, -DECIMALS))
