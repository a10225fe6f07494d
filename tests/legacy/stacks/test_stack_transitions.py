"""The transitions of a stack: those of the specification, and those that we chose."""

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


def test_the_specified_transitions_are_those_of_the_table() -> None:
    sources = {"(no stack)": frozenset(), "existing stack": EXISTING}

    assert [(row[1], sources[row[0]], row[3]) for row in specified()] == [
        (transition.trigger, transition.sources, str(transition.target))
        for transition in (APPLY, UPDATE)
    ]


def test_their_status_codes_are_those_of_the_table() -> None:
    routes = {"apply template": apply_template, "update template": update_template}

    for row in specified():
        assert f"response {routes[row[1]].status_code}" in row[4]


def test_the_specified_example_is_a_state() -> None:
    section = find_section(read_specification(), "Legacy stack status")

    assert f"show stacks in the state {S.CREATE_COMPLETE}." in section


def test_layers_have_the_specified_states() -> None:
    rows = read_table("Deployment item status", "Status")

    assert rows == [[f"`{status}`"] for status in LayerStatus]


@pytest.mark.parametrize("kind", ["CREATE", "UPDATE", "DELETE"])
def test_a_stack_in_progress_completes_or_fails(kind: str) -> None:
    assert completed_status(f"{kind}_IN_PROGRESS") == f"{kind}_COMPLETE"
    assert failed_status(f"{kind}_IN_PROGRESS") == f"{kind}_FAILED"


@pytest.mark.parametrize("status", sorted(set(S) - IN_PROGRESS))
def test_a_stack_that_is_not_in_progress_neither_completes_nor_fails(status: StackStatus) -> None:
    with pytest.raises(KeyError):
        completed_status(status)
    with pytest.raises(KeyError):
        failed_status(status)


def test_an_update_is_allowed_unless_the_stack_is_being_deleted() -> None:
    allowed = {status for status in S if is_allowed(UPDATE, status)}

    assert set(S) - allowed == DELETING == {S.DELETE_IN_PROGRESS, S.DELETE_COMPLETE}


def test_a_deletion_is_allowed_until_it_is_complete() -> None:
    assert {status for status in S if not is_allowed(DELETE, status)} == {S.DELETE_COMPLETE}


def test_a_termination_notice_updates_an_idle_stack() -> None:
    assert {status for status in S if is_allowed(REPLACE, status)} == IDLE
    assert not IDLE & (IN_PROGRESS | DELETING)


def test_delete_complete_is_final() -> None:
    assert not [transition for transition in TRANSITIONS if S.DELETE_COMPLETE in transition.sources]


def test_every_state_is_the_target_of_a_transition() -> None:
    assert {transition.target for transition in TRANSITIONS} == set(S)
