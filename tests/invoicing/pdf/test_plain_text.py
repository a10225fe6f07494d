"""Preparing user-entered text for printing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.invoicing.pdf.plain_text import (
    BREAK,
    WORD_MAX,
    join_lines,
    make_breakable,
    make_printable,
    shorten,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb", "a b"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("\x00a\x1b\u202eb\u2066\ufeff", "ab"),
        ("a\ud800b", "a\ufffdb"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("  a  ", "a"),
    ],
)
def test_invisible_characters_are_removed(text: str, shown: str) -> None:
    assert make_printable(text) == shown


def test_only_long_words_get_break_positions() -> None:
    assert BREAK not in make_breakable("x" * WORD_MAX)
    assert make_breakable("x" * (WORD_MAX + 1)).replace(BREAK, "") == "x" * (WORD_MAX + 1)
    assert BREAK in make_breakable("x" * (WORD_MAX + 1))


def test_lines_are_joined_and_shortened() -> None:
    assert join_lines("a\n b\u3000c") == "a b c"
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcd", 4) == "abcd"


@given(st.text())
def test_no_visible_character_is_lost(text: str) -> None:
    shown = make_breakable(text)

    shown.encode()
    assert [sign for sign in shown if sign.isalnum()] == [sign for sign in text if sign.isalnum()]
