"""Passes of the reconciler with a fake provisioner: what is stored, and when the next one runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
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
from tests.held_locks import wait_until_blocked
from tests.jobs.conftest import FrozenClock, JobDatabase
from tests.legacy.provisioning.stored_stacks import add_stack

ENCRYPTOR = Encryptor(bytes(range(32)))
START = datetime(2026, 4, 1, 9, 0, tzinfo=UTC)  # of the frozen clock


@dataclass
class FakeProvisioner:
    """Instances start and terminate at once, unless a test sets something else."""

    errors: dict[str, Exception] = field(default_factory=dict)  # by name of the method
    observations: dict[int, Observation] = field(default_factory=dict)  # by ordinal
    launched: list[str] = field(default_factory=list)
    terminated: list[str] = field(default_factory=list)
    incomplete_deletions: int = 0  # calls of delete_remaining that find something left

    def _raise_error(self, method: str) -> None:
        if method in self.errors:
            raise self.errors[method]

    def compute_values(self, provision: Mapping[str, Any]) -> dict[str, str]:
        self._raise_error("compute_values")
        return {"image": "ami-computed"} if provision["image"] == "${computed}" else {}

    def launch(self, instance: Instance) -> str:
        self._raise_error("launch")
        assert "${computed}" not in instance.provision.values()
        self.launched.append(instance.instance_key)
        return f"i-{instance.instance_key[-8:]}"

    def update_instances(self, instances: Sequence[Instance]) -> dict[str, Observation]:
        self._raise_error("update_instances")
        running = Observation(ObservedState.running)
        return {
            instance.instance_key: self.observations.get(instance.ordinal, running)
            for instance in instances
        }

    def terminate(self, instances: Sequence[Instance]) -> set[str]:
        self._raise_error("terminate")
        keys = [instance.instance_key for instance in instances]
        self.terminated += keys
        return set(keys)

    def delete_remaining(self) -> bool:
        self.incomplete_deletions -= 1
        return self.incomplete_deletions < 0


class ReconciledStack:
    """A stack, the runner of its job, and a fake provisioner."""

    def __init__(self, job_db: JobDatabase, provisioner: FakeProvisioner) -> None:
        self.job_db, self.provisioner = job_db, provisioner
        self.stack_id = ""
        settings = read_legacy_settings(read_settings({}))
        self.runner = JobRunner(job_db.engine, stack_job_types(settings, job_db.engine, ENCRYPTOR))

    def apply(self, **provision: Any) -> None:
        async def add(db: AsyncConnection) -> str:
            return await add_stack(db, self.job_db.scope, ENCRYPTOR, **provision)

        self.stack_id = self.job_db.in_transaction(add)

    def run_passes(self, times: int = 1) -> None:
        for _ in range(times):
            self.job_db.run(self.runner.run_once(lane=LANE))

    def set_status(self, status: StackStatus) -> None:
        async def set_it(db: AsyncConnection) -> None:
            scope = self.job_db.scope
            await stacks.set_status(db, scope, self.stack_id, status, at=clock.now())
            await stacks.request_reconciliation(db, scope, self.stack_id)

        self.job_db.in_transaction(set_it)

    def select(self, table: sa.Table, *columns: str) -> list[Any]:
        stmt = sa.select(*(table.c[name] for name in columns))
        if "stack_id" in table.c:
            stmt = stmt.where(table.c.stack_id == self.stack_id)

        async def fetch(db: AsyncConnection) -> list[Any]:
            return [tuple(row) for row in (await db.execute(stmt)).all()]

        return self.job_db.in_transaction(fetch)

    @property
    def stack(self) -> tuple[str, str | None]:
        ((status, reason),) = self.select(legacy_stacks, "stack_status", "reason")
        return status, reason

    @property
    def layer(self) -> tuple[str, str | None]:
        ((status, reason),) = self.select(legacy_layers, "status", "reason")
        return status, reason

    @property
    def instance_states(self) -> list[str]:
        return sorted(state for (state,) in self.select(records.legacy_instances, "state"))

    @property
    def next_passes(self) -> list[datetime]:
        return [due for state, due in self.select(jobs, "state", "due") if state == "waiting"]


@pytest.fixture
def reconciled(
    job_db: JobDatabase, frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> ReconciledStack:
    provisioner = FakeProvisioner()
    monkeypatch.setattr(StackReconciler, "_provisioner", lambda *_: provisioner)
    return ReconciledStack(job_db, provisioner)


def test_a_stack_is_complete_after_one_pass_if_all_instances_start_at_once(
    reconciled: ReconciledStack,
) -> None:
    reconciled.apply(instance_count=3)
    reconciled.run_passes()

    assert reconciled.stack == ("CREATE_COMPLETE", None)
    assert reconciled.layer == ("completed", None)
    assert reconciled.instance_states == ["running"] * 3
    assert reconciled.next_passes == []


def test_a_pass_launches_ten_instances_and_is_repeated_at_once(reconciled: ReconciledStack) -> None:
    reconciled.apply(instance_count=12)
    reconciled.run_passes()
    assert reconciled.instance_states == ["pending"] * 2 + ["running"] * 10
    assert len(reconciled.next_passes) == 1

    reconciled.run_passes()
    assert reconciled.stack[0] == "CREATE_COMPLETE"
    assert len(set(reconciled.provisioner.launched)) == len(reconciled.provisioner.launched) == 12


def test_passes_become_rarer_until_an_instance_is_too_late(
    reconciled: ReconciledStack, frozen_clock: FrozenClock
) -> None:
    reconciled.apply(instance_count=1)
    reconciled.provisioner.observations = {0: Observation(ObservedState.starting)}
    pauses: list[float] = []

    for elapsed in (0, 1, 20, 60, 600, 900):
        frozen_clock.at = START + timedelta(seconds=elapsed)
        reconciled.run_passes()
        assert reconciled.stack[0] == "CREATE_IN_PROGRESS"
        (due,) = reconciled.next_passes
        pauses.append((due - frozen_clock.at).total_seconds())
    for _ in range(2):
        frozen_clock.advance(seconds=15)
        reconciled.run_passes()

    assert pauses == [0.5, 0.5, 5, 15, 15, 15]
    assert reconciled.stack == (
        "CREATE_FAILED",
        "web: an instance did not start within 15 minutes",
    )
    assert reconciled.instance_states == ["terminated"]
    assert reconciled.provisioner.terminated == reconciled.provisioner.launched


def test_an_instance_that_terminates_during_its_start_fails_its_layer(
    reconciled: ReconciledStack,
) -> None:
    reconciled.apply(instance_count=2)
    reconciled.provisioner.observations = {
        1: Observation(ObservedState.gone, "AWS terminated the instance: Server.InternalError")
    }
    reconciled.run_passes()

    assert reconciled.stack == (
        "CREATE_FAILED",
        "web: AWS terminated the instance: Server.InternalError",
    )
    assert reconciled.instance_states == ["failed", "running"]


def test_the_next_update_replaces_an_instance_that_terminated(reconciled: ReconciledStack) -> None:
    reconciled.apply(instance_count=1)
    reconciled.run_passes()
    reconciled.provisioner.observations = {
        0: Observation(ObservedState.gone, "the instance was terminated")
    }
    reconciled.set_status(StackStatus.UPDATE_IN_PROGRESS)
    reconciled.job_db.in_transaction(_set_layers_to_updating)
    reconciled.run_passes()
    assert reconciled.instance_states == ["terminated"]

    reconciled.provisioner.observations = {}
    reconciled.run_passes()
    assert reconciled.stack[0] == "UPDATE_COMPLETE"
    assert reconciled.instance_states == ["running", "terminated"]


async def _set_layers_to_updating(db: AsyncConnection) -> None:
    await db.execute(sa.update(legacy_layers).values(status="updating"))


def test_a_rejected_change_keeps_the_instance(reconciled: ReconciledStack) -> None:
    reconciled.apply(instance_count=1)
    reconciled.run_passes()
    reconciled.provisioner.observations = {
        0: Observation(ObservedState.unchangeable, "there is no such instance type")
    }
    reconciled.set_status(StackStatus.UPDATE_IN_PROGRESS)
    reconciled.job_db.in_transaction(_set_layers_to_updating)
    reconciled.run_passes()

    assert reconciled.stack == ("UPDATE_FAILED", "web: there is no such instance type")
    assert reconciled.instance_states == ["running"]


def test_a_transient_error_is_retried_until_the_last_attempt_fails_the_stack(
    reconciled: ReconciledStack, frozen_clock: FrozenClock
) -> None:
    reconciled.apply(instance_count=1)
    reconciled.provisioner.errors = {"launch": TransientError("AWS has no capacity")}
    for _ in range(ATTEMPTS_MAX - 1):
        reconciled.run_passes()
        assert reconciled.stack == ("CREATE_IN_PROGRESS", "AWS has no capacity")
        frozen_clock.advance(minutes=11)
    reconciled.run_passes()

    assert reconciled.stack == ("CREATE_FAILED", "AWS has no capacity")
    assert reconciled.layer[0] == "failed"


def test_a_stack_is_complete_after_a_transient_error_disappears(
    reconciled: ReconciledStack, frozen_clock: FrozenClock
) -> None:
    reconciled.apply(instance_count=1)
    reconciled.provisioner.errors = {"update_instances": TransientError("AWS cannot be reached")}
    reconciled.run_passes(2)
    reconciled.provisioner.errors = {}
    frozen_clock.advance(minutes=1)
    reconciled.run_passes()

    assert reconciled.stack == ("CREATE_COMPLETE", None)
    assert len(reconciled.provisioner.launched) == 1


def test_a_permanent_error_fails_the_stack_at_once(reconciled: ReconciledStack) -> None:
    reconciled.apply(instance_count=1)
    reconciled.provisioner.errors = {
        "update_instances": PermanentError("the credential has expired")
    }
    reconciled.run_passes()

    assert reconciled.stack == ("CREATE_FAILED", "the credential has expired")
    assert reconciled.layer == ("failed", "the credential has expired")
    assert reconciled.next_passes == []


def test_computed_values_are_stored_before_the_launch(
    reconciled: ReconciledStack, frozen_clock: FrozenClock
) -> None:
    reconciled.apply(instance_count=1, image="${computed}")
    reconciled.provisioner.errors = {"launch": TransientError("later")}
    reconciled.run_passes()
    ((provision,),) = reconciled.select(records.legacy_instances, "provision")
    assert '"computed": {"image": "ami-computed"}' in provision

    reconciled.provisioner.errors = {
        "compute_values": AssertionError("values are computed once per instance")
    }
    frozen_clock.advance(minutes=1)
    reconciled.run_passes()
    assert reconciled.stack[0] == "CREATE_COMPLETE"


def test_no_instance_is_launched_for_a_layer_that_its_agent_failed(
    reconciled: ReconciledStack,
) -> None:
    reconciled.apply(instance_count=12)
    reconciled.run_passes()

    async def fail(db: AsyncConnection) -> None:
        await db.execute(sa.update(legacy_layers).values(status="failed", reason="no disk left"))

    reconciled.job_db.in_transaction(fail)
    reconciled.run_passes()

    assert reconciled.stack == ("CREATE_FAILED", "web: no disk left")
    assert reconciled.instance_states == ["failed"] * 2 + ["running"] * 10


def test_a_deletion_completes_when_nothing_is_left_and_deletes_the_secrets(
    reconciled: ReconciledStack, frozen_clock: FrozenClock
) -> None:
    reconciled.apply(instance_count=2)
    reconciled.run_passes()
    reconciled.provisioner.incomplete_deletions = 2
    reconciled.set_status(StackStatus.DELETE_IN_PROGRESS)
    for _ in range(2):
        reconciled.run_passes()
        assert reconciled.stack[0] == "DELETE_IN_PROGRESS"
        frozen_clock.advance(seconds=15)
    assert reconciled.select(legacy_stacks, "encrypted_token")[0][0] is not None

    reconciled.run_passes()
    assert reconciled.stack == ("DELETE_COMPLETE", None)
    assert reconciled.instance_states == ["terminated", "terminated"]
    assert reconciled.select(legacy_stacks, "encrypted_token", "token_hash") == [(None, b"")]
    assert reconciled.select(stacks.legacy_template_versions, "encrypted_secrets") == [(None,)]


def test_a_pass_that_lost_its_lease_stores_nothing(
    reconciled: ReconciledStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    reconciled.apply(instance_count=1)
    launch = StackReconciler._launch

    async def lose_lease(
        reconciler: StackReconciler, job: Job, provisioner: Provisioner, instance: Instance
    ) -> Instance:
        async with transaction(reconciled.job_db.engine, job.scope.organisation_id) as db:
            await db.execute(sa.update(jobs).values(attempts=jobs.c.attempts + 1))
        return await launch(reconciler, job, provisioner, instance)

    monkeypatch.setattr(StackReconciler, "_launch", lose_lease)
    reconciled.run_passes()

    assert len(reconciled.provisioner.launched) == 1
    assert reconciled.instance_states == ["pending"], (
        "the process that has the lease finds the instance by its key"
    )


def test_a_pass_and_a_request_lock_the_same_stack_without_a_deadlock(
    reconciled: ReconciledStack,
) -> None:
    """The request locks the stack and requests a reconciliation while a pass has its job."""
    reconciled.apply(instance_count=1)
    job_db = reconciled.job_db

    async def both() -> None:
        async with transaction(job_db.engine, job_db.scope.organisation_id) as db:
            await stacks.find_stack(db, job_db.scope, reconciled.stack_id, lock=True)
            running_pass = asyncio.create_task(reconciled.runner.run_once(lane=LANE))
            assert await wait_until_blocked(db, running_pass), "it has its job"
            await asyncio.wait_for(
                stacks.request_reconciliation(db, job_db.scope, reconciled.stack_id), 60
            )
        assert await asyncio.wait_for(running_pass, 60) is True

    job_db.run(both())

    assert reconciled.stack == ("CREATE_COMPLETE", None)
