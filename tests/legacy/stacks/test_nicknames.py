"""Random nicknames of stacks."""

import re

from nimbill.legacy.stacks.nicknames import ADJECTIVES, NOUNS, generate_nickname


def test_a_nickname_is_an_adjective_and_a_noun() -> None:
    assert all(re.fullmatch(r"[a-z]{3,8}", word) for word in ADJECTIVES + NOUNS)
    assert re.fullmatch(r"[a-z]+-[a-z]+", generate_nickname())


def test_every_word_is_listed_once() -> None:
    assert len(set(ADJECTIVES)) == len(ADJECTIVES)
    assert len(set(NOUNS)) == len(NOUNS)
    assert len(ADJECTIVES) * len(NOUNS) > 2_000


def test_nicknames_are_random() -> None:
    assert len({generate_nickname() for _ in range(200)}) > 100
