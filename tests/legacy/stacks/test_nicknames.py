"""Two words for a stack that was given no name."""

import re

from nimbill.legacy.stacks.nicknames import HOW, WHAT, two_words


def test_nicknames_are_two_plain_words() -> None:
    assert all(re.fullmatch(r"[a-z]{3,8}", word) for word in HOW + WHAT)
    assert re.fullmatch(r"[a-z]+-[a-z]+", two_words())


def test_no_word_stands_twice() -> None:
    assert len(set(HOW)) == len(HOW)
    assert len(set(WHAT)) == len(WHAT)
    assert len(HOW) * len(WHAT) > 2_000


def test_nicknames_differ() -> None:
    assert len({two_words() for _ in range(200)}) > 100
