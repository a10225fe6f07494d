"""Passes over a stack, with a provisioner that does as it is told: what is written, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import transaction
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.settings import read_settings
from nimbill.jobs.records import jobs
from nimbill.jobs.runner import ATTEMPTS_MAX, Job, JobRunner
from nimbill.legacy.provisioning import records
from nimbill.legacy.provisioning.job_types import LANE, stack_job_types
from nimbill.legacy.provisioning.provisioner import (
    Instance,
    Observation,
    ObservedState,
    PermanentError,
    Provisioner,
    TransientError,
)
from nimbill.legacy.provisioning.reconciler import StackReconciler
from nimbill.legacy.settings import read_legacy_settings
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.records import legacy_layers, legacy_stacks
from nimbill.legacy.stacks.stack_transitions import StackStatus
from tests.jobs.conftest import FrozenClock, JobDatabase
from tests.legacy.provisioning.stored_stacks import add_stack

ENCRYPTOR = Encryptor(bytes(range(32)))


@dataclass
class Obedient:
    """Every instance comes up and ends at once, unless it is told otherwise."""

    trouble: dict[str, Exception] = field(default_factory=dict)  # by the name of the question
    lives: dict[int, Observation] = field(default_factory=dict)  # by ordinal
    launched: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    left: int = 0  # times that something is still there when everything should be gone

    def _asked(self, question: str) -> None:
        if question in self.trouble:
            raise self.trouble[question]

    def compute_values(self, provision: Mapping[str, Any]) -> dict[str, str]:
        self._asked("compute_values")
        return {"image": "ami-computed"} if provision["image"] == "${computed}" else {}

    def launch(self, machine: Instance) -> str:
        self._asked("launch")
        assert "${computed}" not in machine.provision.values()
        self.launched.append(machine.instance_key)
        return f"i-{machine.instance_key[-8:]}"

    def update_instances(self, machines: Sequence[Instance]) -> dict[str, Observation]:
        self._asked("update_instances")
        running = Observation(ObservedState.running)
        return {one.instance_key: self.lives.get(one.ordinal, running) for one in machines}

    def terminate(self, machines: Sequence[Instance]) -> set[str]:
        self._asked("terminate")
        self.ended += [one.instance_key for one in machines]
        return {one.instance_key for one in machines}

    def delete_remaining(self) -> bool:
        self.left -= 1
        return self.left < 0


class Yard:
    """A stack, the loop that moves it, and the provisioner it is moved by."""

    def __init__(self, job_db: JobDatabase, obedient: Obedient) -> None:
        self.job_db, self.cloud = job_db, obedient
        self.stack_id = ""
        kinds = stack_job_types(read_legacy_settings(read_settings({})), job_db.engine, ENCRYPTOR)
        self.runner = JobRunner(job_db.engine, kinds)

    def apply(self, **provision: Any) -> None:
        async def add(db: AsyncConnection) -> str:
            return await add_stack(db, self.job_db.scope, ENCRYPTOR, **provision)

        self.stack_id = self.job_db.in_transaction(add)

    def passes(self, times: int = 1) -> None:
        for _ in range(times):
            self.job_db.run(self.runner.run_once(lane=LANE))

    def move(self, status: StackStatus) -> None:
        async def put(db: AsyncConnection) -> None:
            scope = self.job_db.scope
            await stacks.set_status(db, scope, self.stack_id, status, at=clock.now())
            await stacks.request_reconciliation(db, scope, self.stack_id)

        self.job_db.in_transaction(put)

    def rows(self, table: sa.Table, *columns: str) -> list[Any]:
        question = sa.select(*(table.c[name] for name in columns))
        if "stack_id" in table.c:
            question = question.where(table.c.stack_id == self.stack_id)

        async def ask(db: AsyncConnection) -> list[Any]:
            return [tuple(row) for row in (await db.execute(question)).all()]

        return self.job_db.in_transaction(ask)

    @property
    def stack(self) -> tuple[str, str | None]:
        ((status, reason),) = self.rows(legacy_stacks, "stack_status", "reason")
        return status, reason

    @property
    def layer(self) -> tuple[str, str | None]:
        ((status, reason),) = self.rows(legacy_layers, "status", "reason")
        return status, reason

    @property
    def states(self) -> list[str]:
        return sorted(state for (state,) in self.rows(records.legacy_instances, "state"))

    def waiting(self) -> int:
        return sum(state == "waiting" for (state,) in self.rows(jobs, "state"))


@pytest.fixture
def yard(job_db: JobDatabase, frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch) -> Yard:
    obedient = Obedient()
    monkeypatch.setattr(StackReconciler, "_provisioner", lambda *_: obedient)
    return Yard(job_db, obedient)


def test_a_stack_is_complete_after_one_pass_where_all_comes_up_at_once(yard: Yard) -> None:
    yard.apply(instance_count=3)
    yard.passes()

    assert yard.stack == ("CREATE_COMPLETE", None)
    assert yard.layer == ("completed", None)
    assert yard.states == ["running"] * 3
    assert yard.waiting() == 0


def test_a_pass_launches_ten_and_comes_back_at_once(yard: Yard) -> None:
    yard.apply(instance_count=12)
    yard.passes()
    assert yard.states == ["pending"] * 2 + ["running"] * 10
    assert yard.waiting() == 1

    yard.passes()
    assert yard.stack[0] == "CREATE_COMPLETE"
    assert len(set(yard.cloud.launched)) == len(yard.cloud.launched) == 12


def test_what_takes_longer_is_looked_at_less_often_until_it_is_late(
    yard: Yard, frozen_clock: FrozenClock
) -> None:
    yard.apply(instance_count=1)
    yard.cloud.lives = {0: Observation(ObservedState.starting)}
    looks = 0
    while yard.stack[0] == "CREATE_IN_PROGRESS":
        yard.passes()
        frozen_clock.advance(seconds=15)
        looks += 1
        assert looks < 100

    assert 60 < looks < 65, "15 minutes, every 15 seconds"
    assert yard.stack == (
        "CREATE_FAILED",
        "web: an instance did not start within 15 minutes",
    )
    assert yard.states == ["terminated"]
    assert yard.cloud.ended == yard.cloud.launched


def test_one_that_dies_while_it_comes_up_fails_its_layer(yard: Yard) -> None:
    yard.apply(instance_count=2)
    yard.cloud.lives = {1: Observation(ObservedState.gone, "AWS ended it: Server.InternalError")}
    yard.passes()

    assert yard.stack == ("CREATE_FAILED", "web: AWS ended it: Server.InternalError")
    assert yard.states == ["failed", "running"]


def test_one_that_dies_later_is_replaced_on_the_next_update(yard: Yard) -> None:
    yard.apply(instance_count=1)
    yard.passes()
    yard.cloud.lives = {0: Observation(ObservedState.gone, "it was ended")}
    yard.move(StackStatus.UPDATE_IN_PROGRESS)
    yard.job_db.in_transaction(_layers_update)
    yard.passes()
    assert yard.states == ["terminated"]

    yard.cloud.lives = {}
    yard.passes()
    assert yard.stack[0] == "UPDATE_COMPLETE"
    assert yard.states == ["running", "terminated"]


async def _layers_update(db: AsyncConnection) -> None:
    await db.execute(sa.update(legacy_layers).values(status="updating"))


def test_a_change_that_is_refused_keeps_the_instance(yard: Yard) -> None:
    yard.apply(instance_count=1)
    yard.passes()
    yard.cloud.lives = {
        0: Observation(ObservedState.unchangeable, "there is no such instance type")
    }
    yard.move(StackStatus.UPDATE_IN_PROGRESS)
    yard.job_db.in_transaction(_layers_update)
    yard.passes()

    assert yard.stack == ("UPDATE_FAILED", "web: there is no such instance type")
    assert yard.states == ["running"]


def test_what_is_not_to_be_had_just_now_is_tried_again_and_given_up_in_the_end(
    yard: Yard, frozen_clock: FrozenClock
) -> None:
    yard.apply(instance_count=1)
    yard.cloud.trouble = {"launch": TransientError("AWS has no capacity for this type just now")}
    for _ in range(ATTEMPTS_MAX - 1):
        yard.passes()
        assert yard.stack == ("CREATE_IN_PROGRESS", "AWS has no capacity for this type just now")
        frozen_clock.advance(minutes=11)
    yard.passes()

    assert yard.stack == ("CREATE_FAILED", "AWS has no capacity for this type just now")
    assert yard.layer[0] == "failed"


def test_what_is_to_be_had_again_is_taken(yard: Yard, frozen_clock: FrozenClock) -> None:
    yard.apply(instance_count=1)
    yard.cloud.trouble = {"update_instances": TransientError("AWS cannot be reached")}
    yard.passes(2)
    yard.cloud.trouble = {}
    frozen_clock.advance(minutes=1)
    yard.passes()

    assert yard.stack == ("CREATE_COMPLETE", None)
    assert len(yard.cloud.launched) == 1


def test_what_is_refused_as_a_whole_fails_the_stack_at_once(yard: Yard) -> None:
    yard.apply(instance_count=1)
    yard.cloud.trouble = {"update_instances": PermanentError("the credential has expired")}
    yard.passes()

    assert yard.stack == ("CREATE_FAILED", "the credential has expired")
    assert yard.layer == ("failed", "the credential has expired")
    assert yard.waiting() == 0


def test_what_was_computed_is_written_down_before_the_launch(
    yard: Yard, frozen_clock: FrozenClock
) -> None:
    yard.apply(instance_count=1, image="${computed}")
    yard.cloud.trouble = {"launch": TransientError("later")}
    yard.passes()
    ((provision,),) = yard.rows(records.legacy_instances, "provision")
    assert '"computed": {"image": "ami-computed"}' in provision

    yard.cloud.trouble = {"compute_values": AssertionError("asked once, as for the same instance")}
    frozen_clock.advance(minutes=1)
    yard.passes()
    assert yard.stack[0] == "CREATE_COMPLETE"


def test_a_layer_that_its_agent_failed_launches_no_more(yard: Yard) -> None:
    yard.apply(instance_count=12)
    yard.passes()

    async def fail(db: AsyncConnection) -> None:
        await db.execute(sa.update(legacy_layers).values(status="failed", reason="no disk left"))

    yard.job_db.in_transaction(fail)
    yard.passes()

    assert yard.stack == ("CREATE_FAILED", "web: no disk left")
    assert yard.states == ["failed"] * 2 + ["running"] * 10


def test_a_stack_that_leaves_is_gone_when_nothing_is_left_and_its_secrets_are_wiped(
    yard: Yard, frozen_clock: FrozenClock
) -> None:
    yard.apply(instance_count=2)
    yard.passes()
    yard.cloud.left = 2
    yard.move(StackStatus.DELETE_IN_PROGRESS)
    for _ in range(2):
        yard.passes()
        assert yard.stack[0] == "DELETE_IN_PROGRESS"
        frozen_clock.advance(seconds=15)
    assert yard.rows(legacy_stacks, "encrypted_token")[0][0] is not None

    yard.passes()
    assert yard.stack == ("DELETE_COMPLETE", None)
    assert yard.states == ["terminated", "terminated"]
    assert yard.rows(legacy_stacks, "encrypted_token", "token_hash") == [(None, b"")]
    assert yard.rows(stacks.legacy_template_versions, "encrypted_secrets") == [(None,)]


def test_whoever_lost_the_work_writes_nothing(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.apply(instance_count=1)
    launch = StackReconciler._launch

    async def lost(
        mover: StackReconciler, taken: Job, cloud: Provisioner, machine: Instance
    ) -> Instance:
        async with transaction(yard.job_db.engine, taken.scope.organisation_id) as db:
            await db.execute(sa.update(jobs).values(attempts=jobs.c.attempts + 1))
        return await launch(mover, taken, cloud, machine)

    monkeypatch.setattr(StackReconciler, "_launch", lost)
    yard.passes()

    assert len(yard.cloud.launched) == 1
    assert yard.states == ["pending"], "for whoever has it now to find out"


def test_a_pass_and_a_request_for_the_same_stack_wait_for_each_other_in_one_order(
    yard: Yard,
) -> None:
    """The request holds the stack and asks for a move while a pass is under way."""
    yard.apply(instance_count=1)
    job_db = yard.job_db

    async def both() -> None:
        async with transaction(job_db.engine, job_db.scope.organisation_id) as db:
            await stacks.find_stack(db, job_db.scope, yard.stack_id, lock=True)
            passing = asyncio.create_task(yard.runner.run_once(lane=LANE))
            await asyncio.sleep(0.3)  # it has taken the work and waits for the stack
            await asyncio.wait_for(
                stacks.request_reconciliation(db, job_db.scope, yard.stack_id), 5
            )
        assert await asyncio.wait_for(passing, 10) is True

    job_db.run(both())

    assert yard.stack == ("CREATE_COMPLETE", None)
