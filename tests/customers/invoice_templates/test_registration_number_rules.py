"""Check digits of registration numbers: the published algorithm and published numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.customers.invoice_templates.registration_number_rules import (
    compute_check_digit,
    is_registration_number_valid,
)

twelve_digits = st.text("0123456789", min_size=12, max_size=12)


@pytest.mark.parametrize(
    "number",
    [
        "8700110005901",  # the tax agency's own worked example
        "7000012050002",  # National Tax Agency
        "8000012010038",  # Digital Agency
        "4000012090001",  # Ministry of Economy, Trade and Industry
        "1000011000005",  # National Diet Library
    ],
)
def test_published_numbers_are_valid(number: str) -> None:
    assert is_registration_number_valid(f"T{number}")


def test_the_check_digit_of_the_published_example() -> None:
    # 1*1 + 0*2 + 9*1 + 5*2 + 0*1 + 0*2 + 0*1 + 1*2 + 1*1 + 0*2 + 0*1 + 7*2 = 37 = 4*9 + 1
    assert compute_check_digit("700110005901") == 9 - 1


def test_only_one_check_digit_is_valid() -> None:
    for twelve in ("700110005901", "000012050002", "999999999999", "000000000000"):
        valid = [d for d in range(10) if is_registration_number_valid(f"T{d}{twelve}")]
        assert valid == [compute_check_digit(twelve)]


@given(twelve_digits)
def test_a_check_digit_is_never_zero(twelve: str) -> None:
    assert 1 <= compute_check_digit(twelve) <= 9


@given(twelve_digits, st.integers(0, 11), st.integers(1, 8))
def test_a_wrong_digit_is_detected_unless_0_and_9_are_confused(
    twelve: str, position: int, step: int
) -> None:
    wrong = (int(twelve[position]) + step) % 10
    if (wrong - int(twelve[position])) % 9:
        changed = twelve[:position] + str(wrong) + twelve[position + 1 :]
        assert not is_registration_number_valid(f"T{compute_check_digit(twelve)}{changed}")


@pytest.mark.parametrize(
    "number",
    [
        "",
        "T",
        "7000012050002",
        "t7000012050002",
        "Ｔ7000012050002",
        "T７００００１２０５０００２",
        "T700001205000",
        "T70000120500020",
        "T7000012050002 ",
        " T7000012050002",
        "T7000012050002\n",
        "T7000-01205-0002",
        "T٧٠٠٠٠١٢٠٥٠٠٠٢",
        "T+700001205000",
    ],
)
def test_other_spellings_are_invalid(number: str) -> None:
    assert not is_registration_number_valid(number)
