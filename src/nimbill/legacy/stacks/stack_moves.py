"""The moves of a stack: who moves it, from where, to where."""

from dataclasses import dataclass
from enum import StrEnum

from nimbill.foundation.basis import chosen, stated

basis = stated("Legacy stack status")
chosen_basis = chosen("stack-transitions")


class StackStatus(StrEnum):
    CREATE_IN_PROGRESS = "CREATE_IN_PROGRESS"
    CREATE_COMPLETE = "CREATE_COMPLETE"
    CREATE_FAILED = "CREATE_FAILED"
    UPDATE_IN_PROGRESS = "UPDATE_IN_PROGRESS"
    UPDATE_COMPLETE = "UPDATE_COMPLETE"
    UPDATE_FAILED = "UPDATE_FAILED"
    DELETE_IN_PROGRESS = "DELETE_IN_PROGRESS"
    DELETE_COMPLETE = "DELETE_COMPLETE"
    DELETE_FAILED = "DELETE_FAILED"


class LayerStatus(StrEnum):
    """Spelled as the items of a deployment are."""

    creating = "creating"
    updating = "updating"
    completed = "completed"
    failed = "failed"


S = StackStatus

IN_PROGRESS = frozenset({S.CREATE_IN_PROGRESS, S.UPDATE_IN_PROGRESS, S.DELETE_IN_PROGRESS})
LEAVING = frozenset({S.DELETE_IN_PROGRESS, S.DELETE_COMPLETE})
SETTLED = frozenset(S) - IN_PROGRESS - LEAVING
EXISTING = frozenset(S) - LEAVING
NO_STACK: frozenset[StackStatus] = frozenset()


@dataclass(frozen=True, slots=True)
class Move:
    by: str
    before: frozenset[StackStatus]
    after: StackStatus


APPLY = Move("apply template", NO_STACK, S.CREATE_IN_PROGRESS)
UPDATE = Move("update template", EXISTING, S.UPDATE_IN_PROGRESS)
REPLACE = Move("spot_terminate notice", SETTLED, S.UPDATE_IN_PROGRESS)
DELETE = Move("delete stack", frozenset(S) - {S.DELETE_COMPLETE}, S.DELETE_IN_PROGRESS)

MOVES = (
    APPLY,
    UPDATE,
    REPLACE,
    DELETE,
    Move("layers completed", frozenset({S.CREATE_IN_PROGRESS}), S.CREATE_COMPLETE),
    Move("layer failed", frozenset({S.CREATE_IN_PROGRESS}), S.CREATE_FAILED),
    Move("layers completed", frozenset({S.UPDATE_IN_PROGRESS}), S.UPDATE_COMPLETE),
    Move("layer failed", frozenset({S.UPDATE_IN_PROGRESS}), S.UPDATE_FAILED),
    Move("instances ended", frozenset({S.DELETE_IN_PROGRESS}), S.DELETE_COMPLETE),
    Move("instance not ended", frozenset({S.DELETE_IN_PROGRESS}), S.DELETE_FAILED),
)

COMPLETED = {m.before: m.after for m in MOVES if m.by in ("layers completed", "instances ended")}
FAILED = {m.before: m.after for m in MOVES if m.by in ("layer failed", "instance not ended")}


def may(move: Move, before: str) -> bool:
    return StackStatus(before) in move.before


def completed(before: str) -> StackStatus:
    """Where a stack in progress goes when everything was done."""
    return COMPLETED[frozenset({StackStatus(before)})]


def failed(before: str) -> StackStatus:
    """Where a stack in progress goes when something could not be done."""
    return FAILED[frozenset({StackStatus(before)})]
