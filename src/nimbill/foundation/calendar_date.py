"""Calendar dates, written as yyyy-mm-dd in queries and bodies."""

import re
from datetime import date

PATTERN = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
RULE = "a date (yyyy-mm-dd)"


def is_date(text: str) -> bool:
    if re.fullmatch(PATTERN, text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
