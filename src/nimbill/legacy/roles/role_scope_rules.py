"""The rules of a role scope document: a table of its fields and the function that checks it."""

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
LABELS = ("version", "Version", "Sid")  # optional, without effect

_PATTERN = re.compile(rf"[!-~]{{1,{PATTERN_LENGTH_MAX}}}")


def find_scope_violations(document: Any) -> list[Violation]:
    """Unknown fields are refused: a field that is ignored might be meant as a restriction."""
    return list(_check_fields(document, FIELDS, "scope"))


def _check_fields(value: Any, fields: Mapping[str, "FieldCheck"], at: str) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(at, "an object")
        return
    if value.keys() - fields.keys():
        yield Violation(at, f"no other fields than {', '.join(fields)}")
    for name, check in fields.items():
        path = f"{at}.{name}"
        if name in value:
            yield from check(value[name], path)
        elif name not in LABELS:
            yield Violation(path, "required")


def _check_label(value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, str) or not 1 <= len(value) <= LABEL_LENGTH_MAX:
        yield Violation(at, f"length 1 to {LABEL_LENGTH_MAX}")


def _check_statements(value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, list) or len(value) > STATEMENTS_MAX:
        yield Violation(at, f"a list of at most {STATEMENTS_MAX}")
        return
    for index, statement in enumerate(value):
        yield from _check_fields(statement, STATEMENT_FIELDS, f"{at}[{index}]")


def _check_effect(value: Any, at: str) -> Iterator[Violation]:
    if value not in EFFECTS:
        yield Violation(at, f"one of {', '.join(EFFECTS)}")


def _check_patterns(value: Any, at: str) -> Iterator[Violation]:
    """A list of patterns, or a single pattern."""
    if isinstance(value, str):
        yield from _check_pattern(value, at)
    elif not isinstance(value, list) or not value:
        yield Violation(at, "a list that is not empty")
    else:
        for index, pattern in enumerate(value):
            yield from _check_pattern(pattern, f"{at}[{index}]")


def _check_pattern(value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, str) or _PATTERN.fullmatch(value) is None:
        yield Violation(at, f"1 to {PATTERN_LENGTH_MAX} visible ASCII characters")


FieldCheck = Callable[[Any, str], Iterator[Violation]]

# `Version` is how published clients spell `version`
FIELDS: Mapping[str, FieldCheck] = {
    "version": _check_label,
    "Statement": _check_statements,
    "Version": _check_label,
}
STATEMENT_FIELDS: Mapping[str, FieldCheck] = {
    "Effect": _check_effect,
    "Action": _check_patterns,
    "Resource": _check_patterns,
    "Sid": _check_label,
}
