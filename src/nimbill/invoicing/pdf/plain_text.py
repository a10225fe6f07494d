"""Prepares user-entered text for printing: no invisible characters, no unbreakable long words."""

import re
import unicodedata

# a longer word without break positions could run over the edge of a column
WORD_MAX = 24
BREAK = "\u200b"  # an invisible break position; removed from the text that users sent
_STEP = 4
_LONG = re.compile(rf"[!-~\u00a1-\u02ff]{{{WORD_MAX + 1},}}")
_LINE_BREAKS = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_JOINERS = "\u200d\ufe0e\ufe0f"  # they join several code points to one visible character


def make_printable(text: str) -> str:
    """Remove control and direction characters; replace lone surrogates."""
    lines = _LINE_BREAKS.sub("\n", text).replace("\t", " ")
    return "".join(map(_replace_unprintable, lines)).strip()


def make_breakable(text: str) -> str:
    """Make the text printable and insert break positions into long words."""
    return _LONG.sub(_insert_breaks, make_printable(text))


def join_lines(text: str) -> str:
    return " ".join(make_printable(text).split())


def shorten(text: str, max_length: int) -> str:
    """Join the lines and cut the text to a maximum length."""
    line = join_lines(text)
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def _replace_unprintable(char: str) -> str:
    match unicodedata.category(char):
        case "Cs":
            return "\ufffd"
        case "Cc" | "Cf" if char not in _JOINERS and char != "\n":
            return ""
        case _:
            return char


def _insert_breaks(match: re.Match[str]) -> str:
    word = match.group()
    return BREAK.join(word[start : start + _STEP] for start in range(0, len(word), _STEP))
