"""What a role scope allows, asked of the evaluator alone."""

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


def allowed(*statements: dict[str, Any], action: str = ACTION, resource: str = STACK) -> bool:
    return allows([RoleScope(build_document(*statements))], action, resource)


def test_nothing_is_allowed_that_nobody_allows() -> None:
    assert not allowed()
    assert not allows([], ACTION, STACK)
    assert not allowed(build_statement(action=["stack:deleteStack"]))
    assert not allowed(build_statement(resource=["mrn:alm:stack:stk_2"]))


def test_what_is_allowed_by_name_is_allowed() -> None:
    assert allowed(build_statement(action=[ACTION], resource=[STACK]))


def test_an_explicit_deny_wins_in_whichever_order() -> None:
    said = [
        build_statement(),
        build_statement("Deny", action=[ACTION]),
        build_statement(resource=[STACK]),
    ]

    assert not any(allowed(*order) for order in permutations(said))
    assert allowed(*said, action="stack:describeStacks")


def test_a_deny_elsewhere_denies_nothing_here() -> None:
    assert allowed(build_statement(), build_statement("Deny", resource=["mrn:alm:stack:stk_2"]))
    assert allowed(build_statement(), build_statement("Deny", action=["stack:deleteStack"]))


def test_action_and_resource_must_be_met_by_the_same_statement() -> None:
    assert not allowed(
        build_statement(action=[ACTION], resource=["mrn:alm:stack:stk_2"]),
        build_statement(action=["stack:deleteStack"], resource=[STACK]),
    )


def test_a_deny_in_one_role_denies_what_another_allows() -> None:
    everything, deny = (
        RoleScope(build_document(build_statement(effect))) for effect in ("Allow", "Deny")
    )

    assert allows([everything], ACTION, STACK)
    assert not allows([everything, deny], ACTION, STACK)
    assert not allows([deny, everything], ACTION, STACK)


def test_a_single_text_does_for_a_list_of_one() -> None:
    assert allowed(build_statement(action="stack:*", resource=STACK))


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
    assert allowed(build_statement(resource=[pattern])) is matches
    assert matches_wildcard(pattern, STACK) is matches


def test_actions_are_compared_exactly() -> None:
    assert not allowed(build_statement(action=["Stack:DescribeStack"]))


@pytest.mark.parametrize("resource", ["stk\n", "é", "日本", "a b", "\0", "\ud800", "\x7f"])
def test_what_no_pattern_can_spell_is_met_by_wildcards_alone(resource: str) -> None:
    assert allowed(build_statement(resource=["*"]), resource=resource)
    assert allowed(build_statement(resource=["?" * len(resource)]), resource=resource)
    assert not allowed(
        build_statement(resource=[resource.encode("ascii", "ignore").decode() or "a"]),
        resource=resource + "é",
    )


def test_wildcards_in_what_is_asked_are_characters_like_any() -> None:
    assert not allowed(
        build_statement(resource=["mrn:alm:stack:stk_1"]), resource="mrn:alm:stack:*"
    )
    assert not allowed(
        build_statement(resource=["mrn:alm:stack:stk_1"]), resource="mrn:alm:stack:stk_?"
    )


def test_the_end_of_one_pattern_is_not_the_beginning_of_the_next() -> None:
    said = build_statement(resource=["ab", "cd"])

    assert not any(allowed(said, resource=one) for one in ("ab\ncd", "abcd", "a", "cd\n", "bcd"))
    assert allowed(said, resource="ab")
    assert allowed(said, resource="cd")


def test_a_name_longer_than_any_of_ours_is_denied() -> None:
    assert allowed(build_statement(), resource="x" * TEXT_MAX)
    assert not allowed(build_statement(), resource="x" * (TEXT_MAX + 1))
    assert not allowed(build_statement(), action="x" * (TEXT_MAX + 1))


def test_an_action_is_worth_asking_about_where_an_allow_names_it() -> None:
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


def test_a_scope_is_prepared_once() -> None:
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
def test_any_scope_decides_as_the_slow_one_does(
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
