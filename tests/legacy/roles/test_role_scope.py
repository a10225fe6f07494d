"""What a role scope allows."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.legacy.roles.role_scope import (
    TEXT_MAX,
    RoleScope,
    WildcardPatterns,
    allows,
    parse_scope,
)
from tests.legacy.roles.reference_scope import is_allowed_by_reference, matches_wildcard
from tests.legacy.roles.role_requests import build_document, build_statement

ACTION, STACK = "stack:describeStack", "mrn:alm:stack:stk_1"


def is_allowed(*statements: dict[str, Any], action: str = ACTION, resource: str = STACK) -> bool:
    return allows([RoleScope(build_document(*statements))], action, resource)


def test_everything_is_denied_by_default() -> None:
    assert not is_allowed()
    assert not allows([], ACTION, STACK)
    assert not is_allowed(build_statement(action=["stack:deleteStack"]))
    assert not is_allowed(build_statement(resource=["mrn:alm:stack:stk_2"]))


def test_an_action_and_a_resource_can_be_allowed_by_name() -> None:
    assert is_allowed(build_statement(action=[ACTION], resource=[STACK]))


def test_deny_wins_in_any_order() -> None:
    statements = [
        build_statement(),
        build_statement("Deny", action=[ACTION]),
        build_statement(resource=[STACK]),
    ]

    assert not any(is_allowed(*order) for order in permutations(statements))
    assert is_allowed(*statements, action="stack:describeStacks")


def test_deny_affects_only_what_it_matches() -> None:
    assert is_allowed(build_statement(), build_statement("Deny", resource=["mrn:alm:stack:stk_2"]))
    assert is_allowed(build_statement(), build_statement("Deny", action=["stack:deleteStack"]))


def test_the_same_statement_must_match_action_and_resource() -> None:
    assert not is_allowed(
        build_statement(action=[ACTION], resource=["mrn:alm:stack:stk_2"]),
        build_statement(action=["stack:deleteStack"], resource=[STACK]),
    )


def test_deny_in_one_role_wins_over_allow_in_another() -> None:
    everything, deny = (
        RoleScope(build_document(build_statement(effect))) for effect in ("Allow", "Deny")
    )

    assert allows([everything], ACTION, STACK)
    assert not allows([everything, deny], ACTION, STACK)
    assert not allows([deny, everything], ACTION, STACK)


def test_a_string_is_the_same_as_a_list_of_one() -> None:
    assert is_allowed(build_statement(action="stack:*", resource=STACK))


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        (STACK, True),
        ("*", True),
        ("mrn:alm:stack:*", True),
        ("mrn:alm:stack:stk_?", True),
        ("mrn:*:stack:*", True),
        ("*stk_1", True),
        ("*stack*", True),
        ("***", True),
        ("mrn:alm:stack:stk_1*", True),
        ("?" * len(STACK), True),
        ("?" * (len(STACK) - 1), False),
        ("mrn:alm:stack:stk_", False),
        ("mrn:alm:stack:stk_1?", False),
        ("MRN:ALM:STACK:STK_1", False),
        ("mrn:alm:template:*", False),
        ("mrn.alm.stack.stk_1", False),
        ("[a-z]*", False),
    ],
)
def test_star_is_any_text_and_question_mark_any_one_character(pattern: str, matches: bool) -> None:
    assert is_allowed(build_statement(resource=[pattern])) is matches
    assert matches_wildcard(pattern, STACK) is matches


def test_actions_are_compared_exactly() -> None:
    assert not is_allowed(build_statement(action=["Stack:DescribeStack"]))


@pytest.mark.parametrize("resource", ["stk\n", "é", "日本", "a b", "\0", "\ud800", "\x7f"])
def test_only_wildcards_match_characters_outside_visible_ascii(resource: str) -> None:
    assert is_allowed(build_statement(resource=["*"]), resource=resource)
    assert is_allowed(build_statement(resource=["?" * len(resource)]), resource=resource)
    assert not is_allowed(
        build_statement(resource=[resource.encode("ascii", "ignore").decode() or "a"]),
        resource=resource + "é",
    )


def test_wildcards_in_the_resource_have_no_meaning() -> None:
    assert not is_allowed(
        build_statement(resource=["mrn:alm:stack:stk_1"]), resource="mrn:alm:stack:*"
    )
    assert not is_allowed(
        build_statement(resource=["mrn:alm:stack:stk_1"]), resource="mrn:alm:stack:stk_?"
    )


def test_patterns_do_not_match_across_their_ends() -> None:
    statement = build_statement(resource=["ab", "cd"])

    assert not any(
        is_allowed(statement, resource=text) for text in ("ab\ncd", "abcd", "a", "cd\n", "bcd")
    )
    assert is_allowed(statement, resource="ab")
    assert is_allowed(statement, resource="cd")


def test_long_texts_are_denied() -> None:
    assert is_allowed(build_statement(), resource="x" * TEXT_MAX)
    assert not is_allowed(build_statement(), resource="x" * (TEXT_MAX + 1))
    assert not is_allowed(build_statement(), action="x" * (TEXT_MAX + 1))


def test_an_action_is_allowed_anywhere_if_an_allow_matches_it() -> None:
    scope = RoleScope(
        build_document(
            build_statement(action=["stack:*"], resource=["mrn:alm:stack:stk_9"]),
            build_statement("Deny", action=["stack:describeStacks"]),
            build_statement("Deny", action=["template:*"]),
        )
    )

    assert scope.allows_anywhere("stack:describeStack")
    assert scope.allows_anywhere("stack:describeStacks")
    assert not scope.allows_anywhere("template:describeTemplate")
    assert not scope.allows_anywhere("container:describeContainers")


def test_a_scope_is_parsed_once() -> None:
    text = build_document(build_statement())

    assert parse_scope(text) is parse_scope(text)


LETTERS = st.text("ab*?", max_size=6)
TEXTS = st.text("ab*?\né", max_size=8)
STATEMENTS = st.fixed_dictionaries(
    {
        "Effect": st.sampled_from(["Allow", "Allow", "Deny"]),
        "Action": st.lists(LETTERS, min_size=1, max_size=3) | LETTERS,
        "Resource": st.lists(LETTERS, min_size=1, max_size=3) | LETTERS,
    }
)


@given(st.lists(STATEMENTS, max_size=4), TEXTS, TEXTS)
def test_any_scope_decides_like_the_reference(
    statements: list[Any], action: str, resource: str
) -> None:
    scope = RoleScope(json.dumps({"version": "1", "Statement": statements}))

    assert allows([scope], action, resource) is is_allowed_by_reference(
        statements, action, resource
    )


@given(st.lists(LETTERS, max_size=6), TEXTS)
def test_any_patterns_match_as_the_slow_ones_do(patterns: list[str], text: str) -> None:
    found = WildcardPatterns([[pattern] for pattern in patterns]).match(text)

    assert found == [matches_wildcard(pattern, text) for pattern in patterns]
