"""The registration number of a qualified invoice: T and 13 digits, the first a check digit."""

import re

from nimbill.foundation.basis import chosen

basis = chosen("invoice-templates")

_NUMBER = re.compile(r"T[0-9]{13}")


def registration_number_stands(number: str) -> bool:
    """Whether it is written right and its check digit agrees with the twelve that follow."""
    return bool(_NUMBER.fullmatch(number)) and int(number[1]) == check_digit(number[2:])


def check_digit(twelve_digits: str) -> int:
    """9 less the remainder by 9 of the digits, from the right, times 1 and 2 in turn."""
    weighted = sum(
        int(digit) * (1 if place % 2 == 0 else 2)
        for place, digit in enumerate(reversed(twelve_digits))
    )
    return 9 - weighted % 9
