"""Identifiers: prefix, randomness, derivation."""

import re

from nimbill.foundation.ids import derive_id, new_id


def test_an_id_is_a_prefix_and_26_random_characters() -> None:
    assert re.fullmatch(r"usr_[a-z2-7]{26}", new_id("usr"))


def test_new_ids_are_unique() -> None:
    assert len({new_id("usr") for _ in range(10_000)}) == 10_000


def test_an_id_is_longer_than_any_username() -> None:
    assert len(new_id("x")) > 18


def test_the_same_parts_derive_the_same_id() -> None:
    assert re.fullmatch(r"rce_[a-z2-7]{26}", derive_id("rce", "a", "b", 1))
    assert derive_id("rce", "a", "b", 1) == derive_id("rce", "a", "b", 1)


def test_different_parts_derive_different_ids() -> None:
    parts = [("a", "b"), ("ab",), ("a", "b", ""), ("b", "a"), ('a", "b',), ("a", "b", 1), ("é",)]

    assert len({derive_id("x", *values) for values in parts}) == len(parts)
