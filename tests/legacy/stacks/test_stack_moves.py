"""The moves of a stack: those of the specification's table, and those that were chosen."""

from __future__ import annotations

import pytest

from nimbill.legacy.stacks.stack_moves import (
    APPLY,
    DELETE,
    EXISTING,
    IN_PROGRESS,
    LEAVING,
    MOVES,
    NO_STACK,
    REPLACE,
    SETTLED,
    UPDATE,
    LayerStatus,
    StackStatus,
    completed,
    failed,
    may,
)
from nimbill.legacy.templates.routes import apply_template, update_template
from tests.contract.specification import find_section, parse_table, read_specification

S = StackStatus


def specified() -> list[list[str]]:
    return parse_table(find_section(read_specification(), "Legacy stack status"), "State")


def test_the_stated_moves_are_those_of_the_table() -> None:
    before = {"(no stack)": NO_STACK, "existing stack": EXISTING}

    assert [(row[1], before[row[0]], row[3]) for row in specified()] == [
        (move.by, move.before, str(move.after)) for move in (APPLY, UPDATE)
    ]


def test_their_answers_are_those_of_the_table() -> None:
    routes = {"apply template": apply_template, "update template": update_template}

    for row in specified():
        assert f"response {routes[row[1]].status_code}" in row[4]


def test_the_state_that_is_shown_is_one_of_ours() -> None:
    assert f"A stack in state {S.CREATE_COMPLETE}" in read_specification()


def test_items_of_a_deployment_have_the_stated_states() -> None:
    said = find_section(read_specification(), "Deployment item status")

    assert [f"`{status}`" for status in LayerStatus] == [
        word.strip() for word in said.split("Values:")[1].split(".")[0].split(",")
    ]


@pytest.mark.parametrize("kind", ["CREATE", "UPDATE", "DELETE"])
def test_what_is_in_progress_ends_well_or_badly(kind: str) -> None:
    assert completed(f"{kind}_IN_PROGRESS") == f"{kind}_COMPLETE"
    assert failed(f"{kind}_IN_PROGRESS") == f"{kind}_FAILED"


@pytest.mark.parametrize("status", sorted(set(S) - IN_PROGRESS))
def test_what_stands_still_neither_completes_nor_fails(status: StackStatus) -> None:
    with pytest.raises(KeyError):
        completed(status)
    with pytest.raises(KeyError):
        failed(status)


def test_an_update_is_taken_in_every_state_but_those_of_deleting() -> None:
    taken = {status for status in S if may(UPDATE, status)}

    assert set(S) - taken == LEAVING == {S.DELETE_IN_PROGRESS, S.DELETE_COMPLETE}


def test_deleting_can_be_asked_for_until_it_is_done() -> None:
    assert {status for status in S if not may(DELETE, status)} == {S.DELETE_COMPLETE}


def test_a_notice_moves_a_stack_that_stands_still() -> None:
    assert {status for status in S if may(REPLACE, status)} == SETTLED
    assert not SETTLED & (IN_PROGRESS | LEAVING)


def test_nothing_leaves_the_last_state() -> None:
    assert not [move for move in MOVES if S.DELETE_COMPLETE in move.before]


def test_every_state_is_reached_by_some_move() -> None:
    assert {move.after for move in MOVES} == set(S)
