"""How a stack moves: one pass looks at what is wanted, does a few steps, and comes back."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import Row, transaction
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.ids import derived_id
from nimbill.jobs import records as work
from nimbill.jobs.runner import LEASE, Job, ReportProgress
from nimbill.legacy.provisioning import records
from nimbill.legacy.provisioning.computed import COMPUTED
from nimbill.legacy.provisioning.planning import (
    ALIVE,
    Add,
    Change,
    Present,
    State,
    Step,
    Wanted,
    may_end,
    plan,
    wanted_of,
)
from nimbill.legacy.provisioning.provisioner import (
    Life,
    Machine,
    NotNow,
    Observation,
    Order,
    Provisioner,
    Refused,
)
from nimbill.legacy.settings import LegacySettings
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.auth_tokens import token_of
from nimbill.legacy.stacks.stack_moves import IN_PROGRESS, LayerStatus, StackStatus, failed
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import opened

basis = chosen("stack-reconciliation")

Recording = tuple[AsyncConnection, Row | None]

LAUNCHES_MAX = 10  # in one pass
COMES_UP_MAX = timedelta(minutes=15)
LATE = "an instance did not come up within 15 minutes"
TERMINATED = "terminated"


@dataclass(frozen=True, slots=True)
class Goal:
    """What the stack is to be at one moment; a pass that sees another one ends."""

    status: str
    version_id: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What a pass starts from: the plan is written down, nothing of it is done."""

    aim: Goal
    stack: Row
    order: Order
    wanted: Sequence[Wanted]
    rows: Sequence[Row]
    version_time: datetime

    @property
    def leaves(self) -> bool:
        return self.aim.status == StackStatus.DELETE_IN_PROGRESS

    def machines(self, *states: State) -> list[Machine]:
        return [self.machine(row) for row in self.rows if row.state in states]

    def machine(self, row: Row) -> Machine:
        provision = json.loads(row.provision)
        return Machine(
            row.instance_key,
            row.flag,
            row.ordinal,
            {**provision, **provision.get("computed", {})},
            State(row.state),
            row.instance_id,
            behind=row.state == State.running and row.update_time < self.version_time,
        )


@dataclass(frozen=True, slots=True)
class Passed:
    """What a pass came to; the transaction that ends it goes on from here."""

    aim: Goal
    cleared: bool = False  # nothing is left of a stack that leaves


def present(rows: Sequence[Row]) -> list[Present]:
    """What was computed does not tell instances apart."""
    return [
        Present(
            row.instance_key,
            row.flag,
            row.ordinal,
            {k: v for k, v in json.loads(row.provision).items() if k != "computed"},
            State(row.state),
        )
        for row in rows
    ]


class StackReconciler:
    """Carries out passes; every change is written while the work is still held."""

    def __init__(self, settings: LegacySettings, engine: AsyncEngine, encryptor: Encryptor) -> None:
        self._settings = settings
        self._engine = engine
        self._sealer = encryptor

    async def carry_out(self, taken: Job, _tell: ReportProgress) -> Passed | None:
        """One pass; None where the stack is on no way anywhere."""
        picture = await self._planned(taken)
        if picture is None:
            return None
        provisioner = self._provisioner(picture)
        try:
            if picture.leaves:
                return await self._take_down(taken, picture, provisioner)
            return await self._build(taken, picture, provisioner)
        except Refused as refused:
            await self._fail(taken, picture.aim, str(refused))
            return None
        except NotNow as trouble:
            await self._note(taken, picture.aim, str(trouble))
            raise

    def _provisioner(self, picture: Picture) -> Provisioner:
        # loaded where they are needed: what speaks to AWS takes half a second
        if picture.stack.provisioner == "aws":
            from nimbill.legacy.provisioning.aws import AwsProvisioner

            return AwsProvisioner(picture.order, self._settings.aws_endpoint_url)
        from nimbill.legacy.provisioning.local import LocalProvisioner

        return LocalProvisioner(replace(picture.order, address=self._settings.own_url))

    @asynccontextmanager
    async def _recording(self, taken: Job) -> AsyncIterator[Recording]:
        """A transaction of whoever still holds the work, and the stack, held by it.

        The stack first, then its work, as everybody takes them: nobody waits in a circle.
        """
        async with transaction(self._engine, taken.scope.organisation_id) as db:
            stack = await stacks.find_stack(db, taken.scope, taken.subject, lock=True)
            until = clock.now() + LEASE
            held = await work.renew_lease(
                db, taken.scope, taken.job_id, attempt=taken.attempt, until=until
            )
            if not held:
                raise RuntimeError("another process took this over")
            yield db, stack

    async def _planned(self, taken: Job) -> Picture | None:
        scope, stack_id = taken.scope, taken.subject
        async with self._recording(taken) as (db, stack):
            if stack is None or stack.stack_status not in IN_PROGRESS:
                return None
            version = await templates.find_version(db, scope, stack_id, stack.version_id)
            assert version is not None, "a stack has the version it names"
            template = opened(version, self._sealer)
            leaves = stack.stack_status == StackStatus.DELETE_IN_PROGRESS
            wanted = [] if leaves else wanted_of(template)
            layers = await stacks.list_layers(db, scope, stack_id)
            given_up = {one.flag for one in layers if one.status == LayerStatus.failed}
            await records.launch_no_more(db, scope, stack_id, given_up, at=clock.now())
            rows = await records.list_instances(db, scope, stack_id)
            for step in plan(wanted, present(rows), given_up=given_up):
                await _write_down(db, taken, step)
            rows = await records.list_instances(db, scope, stack_id)
        order = Order(
            scope.organisation_id,
            stack_id,
            stack.nickname,
            stack.region,
            self._settings.agent_url,
            token=token_of(stack, self._sealer) or "",
            credentials=template["vendor"]["aws"]["cred"],
        )
        aim = Goal(stack.stack_status, stack.version_id)
        return Picture(aim, stack, order, wanted, rows, version.create_time)

    async def _build(self, taken: Job, picture: Picture, provisioner: Provisioner) -> Passed:
        ending = may_end(picture.wanted, present(picture.rows))
        leaving = [m for m in picture.machines(State.leaving) if m.instance_key in ending]
        await self._end(taken, provisioner, leaving)
        refused: set[str] = set()
        launched: list[Machine] = []
        for machine in picture.machines(State.wanted)[:LAUNCHES_MAX]:
            if machine.flag in refused:
                continue
            try:
                launched.append(await self._launch(taken, provisioner, machine))
            except Refused as reason:
                refused.add(machine.flag)
                await self._fail_layer(taken, picture.aim, machine, str(reason))
            if not await self._still(taken, picture.aim):
                return Passed(picture.aim)
        machines = [*picture.machines(State.launching, State.running), *launched]
        seen = await asyncio.to_thread(provisioner.bring_up, machines)
        for machine in machines:
            await self._record(taken, picture, machine, seen[machine.instance_key])
        return Passed(picture.aim)

    async def _take_down(self, taken: Job, picture: Picture, provisioner: Provisioner) -> Passed:
        leaving = picture.machines(State.leaving)
        gone = await self._end(taken, provisioner, leaving)
        cleared = len(gone) == len(leaving) and await asyncio.to_thread(provisioner.clear)
        return Passed(picture.aim, cleared=cleared)

    async def _end(
        self, taken: Job, provisioner: Provisioner, machines: Sequence[Machine]
    ) -> Collection[str]:
        if not machines:
            return ()
        gone = await asyncio.to_thread(provisioner.end, machines)
        ids = [m.instance_id for m in machines if m.instance_id and m.instance_key in gone]
        scope, stack_id, at = taken.scope, taken.subject, clock.now()
        async with self._recording(taken) as (db, _):
            await records.change_instances(
                db, scope, stack_id, gone, before=[State.leaving], at=at, state=State.ended
            )
            await records.put_container_status(db, scope, stack_id, ids, TERMINATED, at=at)
        return gone

    async def _launch(self, taken: Job, provisioner: Provisioner, machine: Machine) -> Machine:
        """What is computed is written down first: asked again, the same instance is meant."""
        if COMPUTED in machine.provision.values():
            filled = await asyncio.to_thread(provisioner.computed, machine.provision)
            provision = {**machine.provision, "computed": filled}
            await self._change(taken, machine, provision=records.written(provision))
            machine = replace(machine, provision={**provision, **filled})
        instance_id = await asyncio.to_thread(provisioner.launch, machine)
        await self._change(taken, machine, state=State.launching, instance_id=instance_id)
        return replace(machine, state=State.launching, instance_id=instance_id)

    async def _change(self, taken: Job, machine: Machine, **values: object) -> None:
        """What has changed its state meanwhile, by a notice, is left as it is."""
        async with self._recording(taken) as (db, _):
            await records.change_instances(
                db,
                taken.scope,
                taken.subject,
                [machine.instance_key],
                before=[machine.state],
                at=clock.now(),
                **values,
            )

    async def _record(
        self, taken: Job, picture: Picture, machine: Machine, seen: Observation
    ) -> None:
        """What one look at an instance says of it."""
        if seen.life is Life.running:
            if machine.state is not State.running or machine.behind:
                await self._change(taken, machine, state=State.running)
        elif seen.life is Life.coming:
            await self._record_coming(taken, picture, machine)
        elif seen.life is Life.gone and machine.state is State.running:
            await self._change(taken, machine, state=State.ended, reason=seen.reason)
        else:
            kept = State.running if seen.life is Life.refused else State.failed
            reason = seen.reason or "it did not come up"
            await self._fail_layer(taken, picture.aim, machine, reason, state=kept)

    async def _record_coming(self, taken: Job, picture: Picture, machine: Machine) -> None:
        (row,) = [r for r in picture.rows if r.instance_key == machine.instance_key]
        if machine.state is State.running:  # stopped by somebody else, and started again
            await self._change(taken, machine, state=State.launching)
        elif row.state == State.launching and clock.now() - row.update_time > COMES_UP_MAX:
            await self._fail_layer(taken, picture.aim, machine, LATE, state=State.leaving)

    async def _still(self, taken: Job, aim: Goal) -> bool:
        """Whether the stack is still to be what this pass works on."""
        async with self._recording(taken) as (_, stack):
            return stack is not None and Goal(stack.stack_status, stack.version_id) == aim

    async def _fail_layer(
        self, taken: Job, aim: Goal, machine: Machine, reason: str, state: State = State.failed
    ) -> None:
        """The instance and its layer; what else of it was to be launched is not."""
        scope, stack_id, at = taken.scope, taken.subject, clock.now()
        async with self._recording(taken) as (db, stack):
            assert stack is not None, "stacks are never removed"
            await records.change_instances(
                db,
                scope,
                stack_id,
                [machine.instance_key],
                before=[machine.state],
                at=at,
                state=state,
                reason=reason,
            )
            if Goal(stack.stack_status, stack.version_id) != aim:
                return
            await stacks.put_layer(
                db, scope, stack_id, machine.flag, LayerStatus.failed, reason=reason
            )

    async def _fail(self, taken: Job, aim: Goal, reason: str) -> None:
        """Nothing of this stack can be done: it has failed, until somebody moves it again."""
        async with self._recording(taken) as (db, stack):
            if stack is not None and Goal(stack.stack_status, stack.version_id) == aim:
                await fail_stack(db, taken, stack, reason)

    async def _note(self, taken: Job, aim: Goal, trouble: str) -> None:
        """Why it takes so long, and why it was given up if it is."""
        async with self._recording(taken) as (db, stack):
            if stack is not None and Goal(stack.stack_status, stack.version_id) == aim:
                await stacks.put_status(
                    db,
                    taken.scope,
                    taken.subject,
                    StackStatus(aim.status),
                    reason=trouble,
                    at=stack.update_time,
                )


async def _write_down(db: AsyncConnection, taken: Job, step: Step) -> None:
    scope, stack_id, at = taken.scope, taken.subject, clock.now()
    if isinstance(step, Add):
        flag, ordinal = step.wanted.flag, step.wanted.ordinal
        await records.add_instance(
            db,
            scope,
            stack_id,
            instance_key=derived_id("ins", stack_id, flag, ordinal, step.generation),
            flag=flag,
            ordinal=ordinal,
            provision=step.wanted.provision,
            at=at,
        )
        return
    values: dict[str, object] = {"state": State.leaving}
    if isinstance(step, Change):
        values = {"state": State.launching, "provision": records.written(step.provision)}
    await records.change_instances(
        db, scope, stack_id, [step.instance_key], before=ALIVE, at=at, **values
    )


async def fail_stack(db: AsyncConnection, taken: Job, stack: Row, reason: str) -> None:
    """With every layer that was on its way; the stack is held by this transaction."""
    scope, stack_id = taken.scope, taken.subject
    for layer in await stacks.list_layers(db, scope, stack_id):
        if layer.status in (LayerStatus.creating, LayerStatus.updating):
            await stacks.put_layer(
                db, scope, stack_id, layer.flag, LayerStatus.failed, reason=reason
            )
    status = failed(stack.stack_status)
    await stacks.put_status(db, scope, stack_id, status, reason=reason, at=clock.now())
