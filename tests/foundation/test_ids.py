"""Identifiers say what they name, cannot be guessed, and are never taken for a username."""

import re

from nimbill.foundation.ids import derived_id, new_id


def test_an_id_is_a_prefix_and_128_random_bits() -> None:
    assert re.fullmatch(r"usr_[a-z2-7]{26}", new_id("usr"))


def test_no_two_are_alike() -> None:
    assert len({new_id("usr") for _ in range(10_000)}) == 10_000


def test_an_id_is_longer_than_any_username() -> None:
    assert len(new_id("x")) > 18


def test_a_derived_id_looks_like_a_fresh_one_and_follows_from_its_parts() -> None:
    assert re.fullmatch(r"rce_[a-z2-7]{26}", derived_id("rce", "a", "b", 1))
    assert derived_id("rce", "a", "b", 1) == derived_id("rce", "a", "b", 1)


def test_other_parts_make_another_id() -> None:
    parts = [("a", "b"), ("ab",), ("a", "b", ""), ("b", "a"), ('a", "b',), ("a", "b", 1), ("é",)]

    assert len({derived_id("x", *one) for one in parts}) == len(parts)
