"""Identifiers say what they name, cannot be guessed, and are never taken for a username."""

import re

from nimbill.ids import new_id


def test_an_id_is_a_prefix_and_128_random_bits() -> None:
    assert re.fullmatch(r"usr_[a-z2-7]{26}", new_id("usr"))


def test_no_two_are_alike() -> None:
    assert len({new_id("usr") for _ in range(10_000)}) == 10_000


def test_an_id_is_longer_than_any_username() -> None:
    assert len(new_id("x")) > 18
