"""The states of a stack and the transitions between them."""

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
    """The values that items of a deployment have in the API."""

    creating = "creating"
    updating = "updating"
    completed = "completed"
    failed = "failed"


S = StackStatus

IN_PROGRESS = frozenset({S.CREATE_IN_PROGRESS, S.UPDATE_IN_PROGRESS, S.DELETE_IN_PROGRESS})
DELETING = frozenset({S.DELETE_IN_PROGRESS, S.DELETE_COMPLETE})
EXISTING = frozenset(S) - DELETING
IDLE = EXISTING - IN_PROGRESS
LAYER_IN_PROGRESS = (LayerStatus.creating, LayerStatus.updating)


@dataclass(frozen=True, slots=True)
class StackTransition:
    trigger: str
    sources: frozenset[StackStatus]  # empty: no stack exists before
    target: StackStatus


def _from(source: StackStatus, trigger: str, target: StackStatus) -> StackTransition:
    return StackTransition(trigger, frozenset({source}), target)


APPLY = StackTransition("apply template", frozenset(), S.CREATE_IN_PROGRESS)
UPDATE = StackTransition("update template", EXISTING, S.UPDATE_IN_PROGRESS)
REPLACE = StackTransition("spot_terminate notice", IDLE, S.UPDATE_IN_PROGRESS)
DELETE = StackTransition("delete stack", frozenset(S) - {S.DELETE_COMPLETE}, S.DELETE_IN_PROGRESS)

COMPLETIONS = (
    _from(S.CREATE_IN_PROGRESS, "layers completed", S.CREATE_COMPLETE),
    _from(S.UPDATE_IN_PROGRESS, "layers completed", S.UPDATE_COMPLETE),
    _from(S.DELETE_IN_PROGRESS, "instances ended", S.DELETE_COMPLETE),
)
FAILURES = (
    _from(S.CREATE_IN_PROGRESS, "layer failed", S.CREATE_FAILED),
    _from(S.UPDATE_IN_PROGRESS, "layer failed", S.UPDATE_FAILED),
    _from(S.DELETE_IN_PROGRESS, "instance not ended", S.DELETE_FAILED),
)

TRANSITIONS = (APPLY, UPDATE, REPLACE, DELETE, *COMPLETIONS, *FAILURES)

_COMPLETED = {source: done.target for done in COMPLETIONS for source in done.sources}
_FAILED = {source: failure.target for failure in FAILURES for source in failure.sources}


def is_allowed(transition: StackTransition, status: str) -> bool:
    return status in transition.sources


def completed_status(status: str) -> StackStatus:
    """The status of a stack in progress after everything was done."""
    return _COMPLETED[StackStatus(status)]


def failed_status(status: str) -> StackStatus:
    """The status of a stack in progress after something could not be done."""
    return _FAILED[StackStatus(status)]
