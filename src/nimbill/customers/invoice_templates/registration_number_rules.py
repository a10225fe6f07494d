"""Registration number of a qualified invoice issuer: T, a check digit and twelve digits."""

import re

from nimbill.foundation.basis import chosen

basis = chosen("invoice-templates")

_NUMBER = re.compile(r"T[0-9]{13}")


def is_registration_number_valid(number: str) -> bool:
    return bool(_NUMBER.fullmatch(number)) and int(number[1]) == compute_check_digit(number[2:])


def compute_check_digit(twelve_digits: str) -> int:
    """Weight the digits from the right by 1, 2, 1, 2, …; the check digit is 9 - sum % 9."""
    weighted_sum = sum(
        int(digit) * (1 if position % 2 == 0 else 2)
        for position, digit in enumerate(reversed(twelve_digits))
    )
    return 9 - weighted_sum % 9
