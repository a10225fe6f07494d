"""The moves of a stack: those of the specification's table, and those that were chosen."""

from __future__ import annotations

import pytest

from nimbill.legacy.stacks.stack_transitions import (
    APPLY,
    DELETE,
    DELETING,
    EXISTING,
    IDLE,
    IN_PROGRESS,
    REPLACE,
    TRANSITIONS,
    UPDATE,
    LayerStatus,
    StackStatus,
    completed_status,
    failed_status,
    is_allowed,
)
from nimbill.legacy.templates.routes import apply_template, update_template
from tests.contract.specification import find_section, read_specification, read_table

S = StackStatus


def specified() -> list[list[str]]:
    return read_table("Legacy stack status", "State")


def test_the_stated_moves_are_those_of_the_table() -> None:
    before = {"(no stack)": frozenset(), "existing stack": EXISTING}

    assert [(row[1], before[row[0]], row[3]) for row in specified()] == [
        (move.trigger, move.sources, str(move.target)) for move in (APPLY, UPDATE)
    ]


def test_their_answers_are_those_of_the_table() -> None:
    routes = {"apply template": apply_template, "update template": update_template}

    for row in specified():
        assert f"response {routes[row[1]].status_code}" in row[4]


def test_the_state_that_is_shown_is_one_of_ours() -> None:
    section = find_section(read_specification(), "Legacy stack status")

    assert f"show stacks in the state {S.CREATE_COMPLETE}." in section


def test_items_of_a_deployment_have_the_stated_states() -> None:
    rows = read_table("Deployment item status", "Status")

    assert rows == [[f"`{status}`"] for status in LayerStatus]


@pytest.mark.parametrize("kind", ["CREATE", "UPDATE", "DELETE"])
def test_what_is_in_progress_ends_well_or_badly(kind: str) -> None:
    assert completed_status(f"{kind}_IN_PROGRESS") == f"{kind}_COMPLETE"
    assert failed_status(f"{kind}_IN_PROGRESS") == f"{kind}_FAILED"


@pytest.mark.parametrize("status", sorted(set(S) - IN_PROGRESS))
def test_what_stands_still_neither_completes_nor_fails(status: StackStatus) -> None:
    with pytest.raises(KeyError):
        completed_status(status)
    with pytest.raises(KeyError):
        failed_status(status)


def test_an_update_is_taken_in_every_state_but_those_of_deleting() -> None:
    taken = {status for status in S if is_allowed(UPDATE, status)}

    assert set(S) - taken == DELETING == {S.DELETE_IN_PROGRESS, S.DELETE_COMPLETE}


def test_deleting_can_be_asked_for_until_it_is_done() -> None:
    assert {status for status in S if not is_allowed(DELETE, status)} == {S.DELETE_COMPLETE}


def test_a_notice_moves_a_stack_that_stands_still() -> None:
    assert {status for status in S if is_allowed(REPLACE, status)} == IDLE
    assert not IDLE & (IN_PROGRESS | DELETING)


def test_nothing_leaves_the_last_state() -> None:
    assert not [move for move in TRANSITIONS if S.DELETE_COMPLETE in move.sources]


def test_every_state_is_reached_by_some_move() -> None:
    assert {move.target for move in TRANSITIONS} == set(S)
