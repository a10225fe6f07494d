"""Two words for a stack that was given no name."""

import re

from nimbill.legacy.stacks.nicknames import ADJECTIVES, NOUNS, generate_nickname


def test_nicknames_are_two_plain_words() -> None:
    assert all(re.fullmatch(r"[a-z]{3,8}", word) for word in ADJECTIVES + NOUNS)
    assert re.fullmatch(r"[a-z]+-[a-z]+", generate_nickname())


def test_no_word_stands_twice() -> None:
    assert len(set(ADJECTIVES)) == len(ADJECTIVES)
    assert len(set(NOUNS)) == len(NOUNS)
    assert len(ADJECTIVES) * len(NOUNS) > 2_000


def test_nicknames_differ() -> None:
    assert len({generate_nickname() for _ in range(200)}) > 100
