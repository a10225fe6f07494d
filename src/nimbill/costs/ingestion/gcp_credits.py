"""Adds up the credits of each line of a GCP export, exactly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from nimbill.costs.formats import line_rules
from nimbill.costs.formats.line_rules import RuleViolation, line_error
from nimbill.foundation.money import sum_decimals

# See docs/choices.md, gcp-export.


def sum_credit_text(text: str) -> str:
    """Add up a JSON array of credits or of amounts; any other text is one amount.

    Raise RuleViolation if it is neither.
    """
    if not text.lstrip().startswith("["):
        return text
    try:
        credits_ = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        raise RuleViolation("credits") from None
    return sum_credits(credits_)


def sum_credits(credits_: Iterable[Any]) -> str:
    """Add up the amounts of credits, which are objects with `amount`, or amounts."""
    amounts = [item.get("amount") if isinstance(item, dict) else item for item in credits_]
    return f"{sum_decimals(_parse_amount(amount) for amount in amounts if amount is not None):f}"


def _parse_amount(amount: Any) -> Decimal:
    if isinstance(amount, float):
        return line_rules.parse_amount(f"{amount:.10f}")
    if isinstance(amount, bool) or not isinstance(amount, str | int | Decimal):
        raise RuleViolation("credits")
    return line_rules.parse_amount(str(amount))


def sum_credit_texts(file: str, column: str, texts: pa.Array, first_line: int) -> pa.Array:
    """Return the sum of each line of a text column as text; many lines have the same credits."""
    cache: dict[str | None, str | None] = {None: None}
    sums = []
    for row, text in enumerate(texts.to_pylist()):
        if text not in cache:
            try:
                cache[text] = sum_credit_text(text)
            except RuleViolation as violation:
                line = first_line + row
                raise line_error(file, str(violation), line=line, column=column) from None
        sums.append(cache[text])
    return pa.array(sums, pa.string())


def sum_credit_lists(file: str, column: str, lists: pa.Array, first_line: int) -> pa.Array:
    """Return the sum of each line of a column of lists as text."""
    sums: list[str | None] = []
    for row, credits_ in enumerate(lists.to_pylist()):
        try:
            sums.append(sum_credits(credits_) if credits_ else None)
        except RuleViolation as violation:
            line = first_line + row
            raise line_error(file, str(violation), line=line, column=column) from None
    return pa.array(sums, pa.string())
