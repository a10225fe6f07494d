"""Whether the scopes of one user allow everything that the scopes of another allow."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.access.gate import iterate_routes
from nimbill.legacy.roles.permissions import ScopeRequirement
from nimbill.legacy.roles.role_templates import DEFAULT_SCOPE, ROLE_TEMPLATES
from nimbill.legacy.roles.scope_comparison import ACTIONS, pattern_covers, scopes_cover
from tests.legacy.roles.reference_scope import is_allowed_by_reference, matches_wildcard
from tests.legacy.roles.role_requests import EVERYTHING, build_document, build_statement
from tests.running_service import Service

READ_ONLY, OPERATOR, FULL = (template.scope for template in ROLE_TEMPLATES)
NOTHING = build_document()


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ([READ_ONLY], [READ_ONLY]),
        ([FULL], [READ_ONLY]),
        ([OPERATOR], [READ_ONLY]),
        ([EVERYTHING], [DEFAULT_SCOPE]),
        ([DEFAULT_SCOPE], [OPERATOR]),
        ([READ_ONLY], [NOTHING]),
        ([READ_ONLY, OPERATOR], [OPERATOR, READ_ONLY]),
        ([READ_ONLY], [EVERYTHING, build_document(build_statement("Deny"))]),
    ],
)
def test_equal_and_smaller_scopes_are_covered(own: list[str], other: list[str]) -> None:
    assert scopes_cover(own, other)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ([READ_ONLY], [DEFAULT_SCOPE]),
        ([READ_ONLY], [OPERATOR]),
        ([OPERATOR], [FULL]),
        ([NOTHING], [READ_ONLY]),
        ([FULL, build_document(build_statement("Deny", resource=["*stk_1"]))], [FULL]),
        (
            [build_document(build_statement(resource=["mrn:alm:stack:stk_1"]))],
            [build_document(build_statement(resource=["mrn:alm:stack:stk_?"]))],
        ),
    ],
)
def test_scopes_that_allow_more_are_not_covered(own: list[str], other: list[str]) -> None:
    assert not scopes_cover(own, other)


def test_scopes_that_take_too_long_to_compare_are_not_covered() -> None:
    narrow = [f"mrn:alm:stack:{number}-a*" for number in range(600)]
    wide = [f"mrn:alm:stack:{number}-*" for number in range(600)]

    assert not scopes_cover(
        [build_document(build_statement(resource=wide))],
        [build_document(build_statement(resource=narrow))],
    )


def test_every_action_that_a_route_requires_is_compared(service: Service) -> None:
    required = {
        handler.opt["requires"].action
        for _, handler in iterate_routes(service.app)
        if isinstance(handler.opt.get("requires"), ScopeRequirement)
    }

    assert required == set(ACTIONS)


PATTERNS = st.text("ab*?", min_size=1, max_size=6)
TEXTS = st.text("abc", max_size=6)


@given(PATTERNS, PATTERNS, TEXTS)
def test_a_pattern_that_covers_another_matches_every_text_of_it(
    wide: str, narrow: str, text: str
) -> None:
    if pattern_covers(wide, narrow) and matches_wildcard(narrow, text):
        assert matches_wildcard(wide, text)


@pytest.mark.parametrize(
    ("wide", "narrow", "covers"),
    [
        ("*", "a?*", True),
        ("a*", "ab*", True),
        ("a?c", "abc", True),
        ("a*c*", "ab*cc", True),
        ("?", "*", False),
        ("ab*", "a*", False),
        ("a", "?", False),
        ("a*b", "a*", False),
    ],
)
def test_stars_cover_stars_and_question_marks(wide: str, narrow: str, covers: bool) -> None:
    assert pattern_covers(wide, narrow) is covers


STATEMENTS = st.lists(
    st.builds(
        build_statement,
        st.sampled_from(["Allow", "Deny"]),
        st.lists(st.sampled_from(["*", "stack:*", ACTIONS[0], "*Stack"]), min_size=1, max_size=2),
        st.lists(PATTERNS, min_size=1, max_size=2),
    ),
    max_size=4,
)


@given(STATEMENTS, STATEMENTS, st.sampled_from(ACTIONS), TEXTS)
def test_covered_scopes_allow_nothing_more(
    own: list[dict[str, Any]], other: list[dict[str, Any]], action: str, resource: str
) -> None:
    documents = [json.dumps({"Statement": statements}) for statements in (own, other)]

    if scopes_cover(documents[:1], documents[1:]) and is_allowed_by_reference(
        other, action, resource
    ):
        assert is_allowed_by_reference(own, action, resource)
