"""The rules of a role scope document."""

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

VALID: dict[str, Any] = {"version": "2026-11-15", "Statement": [build_statement()]}
PATTERN = f"1 to {PATTERN_LENGTH_MAX} visible ASCII characters"


def find_violations(document: Any) -> list[tuple[str, str]]:
    return [(each.field, each.rule) for each in find_scope_violations(document)]


def with_statement(**fields: Any) -> dict[str, Any]:
    return VALID | {"Statement": [build_statement() | fields]}


@pytest.mark.parametrize(
    "document",
    [
        VALID,
        VALID | {"Statement": []},
        VALID | {"Statement": [build_statement()] * STATEMENTS_MAX},
        with_statement(Effect="Deny"),
        with_statement(Action="stack:*", Resource="mrn:alm:stack:?"),
        with_statement(Action=["a", "*", "?" * PATTERN_LENGTH_MAX]),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_valid_scope_has_no_violations(document: Any) -> None:
    assert find_violations(document) == []


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ([], [("scope", "an object")]),
        (None, [("scope", "an object")]),
        ("text", [("scope", "an object")]),
        ({}, [("scope.Statement", "required")]),
        (VALID | {"version": ""}, [("scope.version", "length 1 to 40")]),
        (VALID | {"version": "x" * 41}, [("scope.version", "length 1 to 40")]),
        (VALID | {"version": 1}, [("scope.version", "length 1 to 40")]),
        (VALID | {"Statement": {}}, [("scope.Statement", "a list of at most 100")]),
        (
            VALID | {"Statement": [build_statement()] * (STATEMENTS_MAX + 1)},
            [("scope.Statement", "a list of at most 100")],
        ),
        (VALID | {"Statement": ["Allow"]}, [("scope.Statement[0]", "an object")]),
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
    ids=lambda value: repr(value)[:60],
)
def test_each_violation_names_its_path(document: Any, found: list[tuple[str, str]]) -> None:
    assert find_violations(document) == found


@pytest.mark.parametrize("field", ["Condition", "NotAction", "NotResource", "Principal"])
def test_an_unknown_field_is_refused_and_not_repeated(field: str) -> None:
    """If it were ignored, a restriction might be lost."""
    assert find_violations(with_statement(**{field: "x"})) == [
        ("scope.Statement[0]", "no other fields than Effect, Action, Resource, Sid")
    ]
    assert find_violations(VALID | {field: "x"}) == [
        ("scope", "no other fields than version, Statement, Version")
    ]


def test_all_violations_are_reported_together() -> None:
    invalid = {"Effect": "Perhaps", "Action": [""], "More": 1}

    found = find_violations({"version": 0, "Statement": [invalid, build_statement(), invalid]})

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
    assert list(FIELDS) == ["version", "Statement", "Version"], "clients send Version too"
    assert [name for name in STATEMENT_FIELDS if name not in LABELS] == [
        "Effect",
        "Action",
        "Resource",
    ]


def test_published_clients_spell_version_with_a_capital_letter() -> None:
    document = {"Version": "2017-05-05", "Statement": [build_statement()]}

    assert find_violations(document) == []
    assert find_violations(document | {"Version": ""}) == [("scope.Version", "length 1 to 40")]


def test_labels_are_optional() -> None:
    assert (
        find_violations({"Statement": [build_statement(), build_statement() | {"Sid": "readers"}]})
        == []
    )
    assert find_violations(with_statement(Sid=1)) == [("scope.Statement[0].Sid", "length 1 to 40")]


@pytest.mark.parametrize("template", ROLE_TEMPLATES, ids=lambda value: value.id)
def test_predefined_scopes_are_valid(template: Any) -> None:
    assert find_violations(json.loads(template.scope)) == []
