"""The state of a stack at the start of a reconciliation pass, and the result of the pass."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nimbill.database.tenant_scope import Row
from nimbill.legacy.provisioning.instance_plan import (
    DesiredInstance,
    ExistingInstance,
    InstanceState,
)
from nimbill.legacy.provisioning.provisioner import Instance, LaunchContext
from nimbill.legacy.stacks.stack_transitions import StackStatus


@dataclass(frozen=True, slots=True)
class Goal:
    """What a stack is to become; a pass ends when the goal of its stack changes."""

    status: str
    version_id: str


@dataclass(frozen=True, slots=True)
class StackSnapshot:
    """A stack at the start of a pass: the plan is stored, and nothing of it is done yet."""

    goal: Goal
    stack: Row
    context: LaunchContext
    desired: Sequence[DesiredInstance]
    rows: Sequence[Row]
    version_time: datetime

    @property
    def is_deleting(self) -> bool:
        return self.goal.status == StackStatus.DELETE_IN_PROGRESS

    def list_instances(self, *states: InstanceState) -> list[Instance]:
        return [self._to_instance(row) for row in self.rows if row.state in states]

    def _to_instance(self, row: Row) -> Instance:
        provision = json.loads(row.provision)
        is_running = row.state == InstanceState.running
        return Instance(
            row.instance_key,
            row.flag,
            row.ordinal,
            {**provision, **provision.get("computed", {})},
            InstanceState(row.state),
            row.instance_id,
            is_outdated=is_running and row.update_time < self.version_time,
        )


@dataclass(frozen=True, slots=True)
class PassResult:
    goal: Goal
    is_deleted: bool = False  # nothing is left of a stack that is being deleted


def to_existing_instances(rows: Sequence[Row]) -> list[ExistingInstance]:
    """Without computed values, which the template does not contain."""
    return [
        ExistingInstance(
            row.instance_key,
            row.flag,
            row.ordinal,
            {k: v for k, v in json.loads(row.provision).items() if k != "computed"},
            InstanceState(row.state),
        )
        for row in rows
    ]
