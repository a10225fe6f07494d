"""How the vendors number accounts: ids are text, and their leading zeros count.

An id also stands in the paths that change and delete its account, and there a slash would part it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("Customer cloud account")
slash_basis = chosen("account-paths")


class Written(NamedTuple):
    """A pattern and its rule in words."""

    pattern: re.Pattern[str]
    words: str


class Row(NamedTuple):
    customer_id: Written
    account_id: Written


NUMBERS: Mapping[str, Row] = {
    "aws": Row(
        customer_id=Written(re.compile(r"[0-9]{12}"), "12 digits"),
        account_id=Written(re.compile(r"[0-9]{12}"), "12 digits"),
    ),
    "azure": Row(
        customer_id=Written(re.compile(r"[^/]{16,36}"), "16 to 36 characters, none a slash"),
        account_id=Written(re.compile(r"[0-9]{7}"), "7 digits"),
    ),
}


def number_violations(sent: Mapping[str, Any], *fields: str) -> Iterator[Violation]:
    """Every one of these fields that is not written as its vendor writes it."""
    row = NUMBERS.get(str(sent.get("vendor")))
    if row is None:
        return
    for field in fields:
        value, written = sent.get(field), getattr(row, field)
        if isinstance(value, str) and not written.pattern.fullmatch(value):
            yield Violation(field, written.words)
