"""Texts in CSV files: a spreadsheet must not run them as formulas, and they must come back."""

import re

# See docs/choices.md, csv-files.

# Spreadsheets evaluate a text that starts with one of these characters as a formula; in Japan also
# with their full-width forms. Texts that look escaped are escaped again, so that removing one quote
# always restores the stored text.
_FORMULA_START = re.compile("'*[=+\\-@\t\r\n\0＝＋－＠]")
ESCAPE_PREFIX = "'"


def escape_formula(text: str) -> str:
    return ESCAPE_PREFIX + text if _FORMULA_START.match(text) else text


def unescape_formula(text: str) -> str:
    """Return the text that `escape_formula` received."""
    is_escaped = text.startswith(ESCAPE_PREFIX) and _FORMULA_START.match(text)
    return text[len(ESCAPE_PREFIX) :] if is_escaped else text
