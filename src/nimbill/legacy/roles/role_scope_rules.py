"""What a role scope document may say, as a table of its fields and the function that reads it."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("Legacy role records")
limits_basis = chosen("role-scopes")

SCOPE_BYTES_MAX = 65_536
STATEMENTS_MAX = 100
PATTERN_LENGTH_MAX = 256
LABEL_LENGTH_MAX = 40
EFFECTS = ("Allow", "Deny")
LABELS = ("version", "Sid")  # name a scope or a statement and decide nothing: they may be missing

_PATTERN = re.compile(rf"[!-~]{{1,{PATTERN_LENGTH_MAX}}}")


def violations(document: Any) -> list[Violation]:
    """Everything that is wrong with a scope, named by its place; none for a sound one.

    A field nobody knows is refused, not passed over: it was meant to narrow what is allowed.
    """
    return list(_in_fields(document, FIELDS, "scope"))


def _in_fields(value: Any, fields: Mapping[str, "Check"], at: str) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(at, "an object")
        return
    if value.keys() - fields.keys():
        yield Violation(at, f"no other fields than {', '.join(fields)}")
    for name, check in fields.items():
        place = f"{at}.{name}"
        if name in value:
            yield from check(value[name], place)
        elif name not in LABELS:
            yield Violation(place, "required")


def _label(value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, str) or not 1 <= len(value) <= LABEL_LENGTH_MAX:
        yield Violation(at, f"length 1 to {LABEL_LENGTH_MAX}")


def _statements(value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, list) or len(value) > STATEMENTS_MAX:
        yield Violation(at, f"a list of at most {STATEMENTS_MAX}")
        return
    for index, statement in enumerate(value):
        yield from _in_fields(statement, OF_STATEMENTS, f"{at}[{index}]")


def _effect(value: Any, at: str) -> Iterator[Violation]:
    if value not in EFFECTS:
        yield Violation(at, f"one of {', '.join(EFFECTS)}")


def _patterns(value: Any, at: str) -> Iterator[Violation]:
    """A list of them, or a single one in its place."""
    if isinstance(value, str):
        yield from _pattern(value, at)
    elif not isinstance(value, list) or not value:
        yield Violation(at, "a list that is not empty")
    else:
        for index, pattern in enumerate(value):
            yield from _pattern(pattern, f"{at}[{index}]")


def _pattern(value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, str) or _PATTERN.fullmatch(value) is None:
        yield Violation(at, f"1 to {PATTERN_LENGTH_MAX} visible ASCII characters")


Check = Callable[[Any, str], Iterator[Violation]]

FIELDS: Mapping[str, Check] = {"version": _label, "Statement": _statements}
OF_STATEMENTS: Mapping[str, Check] = {
    "Effect": _effect,
    "Action": _patterns,
    "Resource": _patterns,
    "Sid": _label,
}
