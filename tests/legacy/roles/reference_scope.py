"""A slow implementation of scopes that follows their definition, for comparison."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any


@cache
def matches_wildcard(pattern: str, text: str) -> bool:
    """`*` is any text, `?` any one character."""
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "*":
        return any(matches_wildcard(rest, text[at:]) for at in range(len(text) + 1))
    return bool(text) and first in ("?", text[0]) and matches_wildcard(rest, text[1:])


def is_allowed_by_reference(statements: Sequence[Any], action: str, resource: str) -> bool:
    """True if an Allow matches both, and no Deny does."""
    effects = {
        statement["Effect"]
        for statement in statements
        if _any_matches(statement["Action"], action)
        and _any_matches(statement["Resource"], resource)
    }
    return effects == {"Allow"}


def _any_matches(patterns: list[str] | str, text: str) -> bool:
    patterns = [patterns] if isinstance(patterns, str) else patterns
    return any(matches_wildcard(pattern, text) for pattern in patterns)
