"""Text of others made fit for paper: no invisible signs, and no word too long for its line."""

import re
import unicodedata

# Without a place to break, a word longer than this could run over the edge of a column.
WORD_MAX = 24
BREAK = "\u200b"  # the layout breaks there and prints nothing; taken out of what was sent
_STEP = 4
_LONG = re.compile(rf"[!-~\u00a1-\u02ff]{{{WORD_MAX + 1},}}")
_ENDS_OF_LINES = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_JOINING = "\u200d\ufe0e\ufe0f"  # what holds the parts of one sign together


def printable(text: str) -> str:
    """The same text without control signs, direction signs and halves of characters."""
    lines = _ENDS_OF_LINES.sub("\n", text).replace("\t", " ")
    return "".join(map(_shown, lines)).strip()


def breakable(text: str) -> str:
    """Printable, with places to break inside long words."""
    return _LONG.sub(_with_breaks, printable(text))


def one_line(text: str) -> str:
    return " ".join(printable(text).split())


def shortened(text: str, most: int) -> str:
    """In one line, for the edge of a page."""
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def _shown(sign: str) -> str:
    match unicodedata.category(sign):
        case "Cs":
            return "\ufffd"
        case "Cc" | "Cf" if sign not in _JOINING and sign != "\n":
            return ""
        case _:
            return sign


def _with_breaks(found: re.Match[str]) -> str:
    word = found.group()
    return BREAK.join(word[start : start + _STEP] for start in range(0, len(word), _STEP))
