"""What a role scope document may say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.legacy.roles.role_scope_rules import (
    FIELDS,
    LABELS,
    PATTERN_LENGTH_MAX,
    STATEMENT_FIELDS,
    STATEMENTS_MAX,
    find_scope_violations,
)
from nimbill.legacy.roles.role_templates import ROLE_TEMPLATES
from tests.contract.specification import read_table
from tests.legacy.roles.role_requests import build_statement

SOUND: dict[str, Any] = {"version": "2026-11-15", "Statement": [build_statement()]}
PATTERN = f"1 to {PATTERN_LENGTH_MAX} visible ASCII characters"


def broken(document: Any) -> list[tuple[str, str]]:
    return [(one.field, one.rule) for one in find_scope_violations(document)]


def with_statement(**fields: Any) -> dict[str, Any]:
    return SOUND | {"Statement": [build_statement() | fields]}


@pytest.mark.parametrize(
    "document",
    [
        SOUND,
        SOUND | {"Statement": []},
        SOUND | {"Statement": [build_statement()] * STATEMENTS_MAX},
        with_statement(Effect="Deny"),
        with_statement(Action="stack:*", Resource="mrn:alm:stack:?"),
        with_statement(Action=["a", "*", "?" * PATTERN_LENGTH_MAX]),
    ],
    ids=lambda one: repr(one)[:60],
)
def test_a_sound_scope_breaks_no_rule(document: Any) -> None:
    assert broken(document) == []


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ([], [("scope", "an object")]),
        (None, [("scope", "an object")]),
        ("text", [("scope", "an object")]),
        ({}, [("scope.Statement", "required")]),
        (SOUND | {"version": ""}, [("scope.version", "length 1 to 40")]),
        (SOUND | {"version": "x" * 41}, [("scope.version", "length 1 to 40")]),
        (SOUND | {"version": 1}, [("scope.version", "length 1 to 40")]),
        (SOUND | {"Statement": {}}, [("scope.Statement", "a list of at most 100")]),
        (
            SOUND | {"Statement": [build_statement()] * (STATEMENTS_MAX + 1)},
            [("scope.Statement", "a list of at most 100")],
        ),
        (SOUND | {"Statement": ["Allow"]}, [("scope.Statement[0]", "an object")]),
        (with_statement(Effect="allow"), [("scope.Statement[0].Effect", "one of Allow, Deny")]),
        (with_statement(Effect="Audit"), [("scope.Statement[0].Effect", "one of Allow, Deny")]),
        (with_statement(Effect=None), [("scope.Statement[0].Effect", "one of Allow, Deny")]),
        (with_statement(Effect=["Deny"]), [("scope.Statement[0].Effect", "one of Allow, Deny")]),
        (with_statement(Action=[]), [("scope.Statement[0].Action", "a list that is not empty")]),
        (with_statement(Action=7), [("scope.Statement[0].Action", "a list that is not empty")]),
        (with_statement(Action=""), [("scope.Statement[0].Action", PATTERN)]),
        (with_statement(Resource=["a", 7]), [("scope.Statement[0].Resource[1]", PATTERN)]),
        (with_statement(Resource=["a b"]), [("scope.Statement[0].Resource[0]", PATTERN)]),
        (with_statement(Resource=["a\n"]), [("scope.Statement[0].Resource[0]", PATTERN)]),
        (with_statement(Resource=["é"]), [("scope.Statement[0].Resource[0]", PATTERN)]),
        (
            with_statement(Resource="x" * (PATTERN_LENGTH_MAX + 1)),
            [("scope.Statement[0].Resource", PATTERN)],
        ),
    ],
    ids=lambda one: repr(one)[:60],
)
def test_each_broken_rule_is_named_by_its_place(
    document: Any, found: list[tuple[str, str]]
) -> None:
    assert broken(document) == found


@pytest.mark.parametrize("field", ["Condition", "NotAction", "NotResource", "Principal"])
def test_a_field_nobody_knows_is_refused_and_not_repeated(field: str) -> None:
    """It was meant to narrow what is allowed; passed over, it would widen it."""
    assert broken(with_statement(**{field: "x"})) == [
        ("scope.Statement[0]", "no other fields than Effect, Action, Resource, Sid")
    ]
    assert broken(SOUND | {field: "x"}) == [("scope", "no other fields than version, Statement")]


def test_everything_is_named_at_once() -> None:
    wrong = {"Effect": "Perhaps", "Action": [""], "More": 1}

    found = broken({"version": 0, "Statement": [wrong, build_statement(), wrong]})

    assert [at for at, _ in found] == [
        "scope.version",
        *(
            f"scope.Statement[{index}]{field}"
            for index in (0, 2)
            for field in ("", ".Effect", ".Action[0]", ".Resource")
        ),
    ]


def test_the_fields_are_the_specified_ones() -> None:
    fields = dict(read_table("Legacy role records", "Record"))

    assert fields["Role scope document"] == (
        "version (string), Statement (array of objects with Effect, Action as array of string, "
        "Resource as array of string)"
    )
    assert list(FIELDS) == ["version", "Statement"]
    assert [name for name in STATEMENT_FIELDS if name not in LABELS] == [
        "Effect",
        "Action",
        "Resource",
    ]


def test_labels_may_be_given_or_missing() -> None:
    assert broken({"Statement": [build_statement(), build_statement() | {"Sid": "readers"}]}) == []
    assert broken(with_statement(Sid=1)) == [("scope.Statement[0].Sid", "length 1 to 40")]


@pytest.mark.parametrize("template", ROLE_TEMPLATES, ids=lambda one: one.id)
def test_our_own_templates_keep_the_rules(template: Any) -> None:
    assert broken(json.loads(template.scope)) == []
