"""Reconciliation of stacks: each pass compares a stack with its template and makes a few changes.

A pass runs as the preparation of a job, outside any transaction. Every change is stored at once, in
a transaction that still holds the job's lease. `finish_pass` decides whether another pass follows.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import Row, transaction
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.extras import describe_missing_extra
from nimbill.foundation.ids import derive_id
from nimbill.jobs import records as jobs
from nimbill.jobs.runner import LEASE, Job, ReportProgress
from nimbill.legacy.provisioning import records
from nimbill.legacy.provisioning.computed_values import COMPUTED
from nimbill.legacy.provisioning.instance_plan import (
    ALIVE,
    AddInstance,
    ChangeInstanceType,
    InstanceState,
    PlanStep,
    list_desired_instances,
    list_terminable,
    plan_steps,
)
from nimbill.legacy.provisioning.provisioner import (
    Instance,
    LaunchContext,
    Observation,
    ObservedState,
    PermanentError,
    Provisioner,
    TransientError,
)
from nimbill.legacy.provisioning.stack_snapshot import (
    Goal,
    PassResult,
    StackSnapshot,
    to_existing_instances,
)
from nimbill.legacy.settings import LegacySettings
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.auth_tokens import decrypt_token
from nimbill.legacy.stacks.stack_transitions import (
    IN_PROGRESS,
    LAYER_IN_PROGRESS,
    LayerStatus,
    StackStatus,
    failed_status,
)
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import read_template_with_secrets

# See docs/choices.md, stack-reconciliation.

LAUNCHES_MAX = 10  # per pass
START_TIME_MAX = timedelta(minutes=15)
START_TIMED_OUT = "an instance did not start within 15 minutes"
TERMINATED = "terminated"


class StackReconciler:
    def __init__(self, settings: LegacySettings, engine: AsyncEngine, encryptor: Encryptor) -> None:
        self._settings = settings
        self._engine = engine
        self._encryptor = encryptor

    async def run_pass(self, job: Job, _report_progress: ReportProgress) -> PassResult | None:
        """None if the stack is not in progress, or has failed in this pass."""
        snapshot = await self._load_snapshot(job)
        if snapshot is None:
            return None
        try:
            provisioner = self._provisioner(snapshot)
            if snapshot.is_deleting:
                return await self._delete(job, snapshot, provisioner)
            return await self._update(job, snapshot, provisioner)
        except PermanentError as error:
            await self._fail(job, snapshot.goal, str(error))
            return None
        except TransientError as error:
            await self._store_reason(job, snapshot.goal, str(error))
            raise

    def _provisioner(self, snapshot: StackSnapshot) -> Provisioner:
        # imported when needed: loading boto3 takes half a second
        if snapshot.stack.provisioner == "aws":
            if describe_missing_extra("aws", "This stack"):
                raise TransientError("The operator of the server must install nimbill[aws].")
            from nimbill.legacy.provisioning.aws_provisioner import AwsProvisioner

            return AwsProvisioner(snapshot.context, self._settings.aws_endpoint_url)
        from nimbill.legacy.provisioning.local_provisioner import LocalProvisioner

        return LocalProvisioner(replace(snapshot.context, address=self._settings.own_url))

    @asynccontextmanager
    async def _locked_stack(self, job: Job) -> AsyncIterator[tuple[AsyncConnection, Row | None]]:
        """A transaction that holds the stack and the job; RuntimeError if the lease is lost.

        The stack is locked before the job, as everywhere else, so that there is no deadlock.
        """
        async with transaction(self._engine, job.scope.organisation_id) as db:
            stack = await stacks.find_stack(db, job.scope, job.subject, lock=True)
            until = clock.now() + LEASE
            is_held = await jobs.renew_lease(
                db, job.scope, job.job_id, attempt=job.attempt, until=until
            )
            if not is_held:
                raise RuntimeError("another process has taken over this job")
            yield db, stack

    async def _load_snapshot(self, job: Job) -> StackSnapshot | None:
        scope, stack_id = job.scope, job.subject
        async with self._locked_stack(job) as (db, stack):
            if stack is None or stack.stack_status not in IN_PROGRESS:
                return None
            version = await templates.find_version(db, scope, stack_id, stack.version_id)
            assert version is not None, "a stack has the version it names"
            template = read_template_with_secrets(version, self._encryptor)
            is_deleting = stack.stack_status == StackStatus.DELETE_IN_PROGRESS
            desired = [] if is_deleting else list_desired_instances(template)
            layers = await stacks.list_layers(db, scope, stack_id)
            failed_layers = {layer.flag for layer in layers if layer.status == LayerStatus.failed}
            await records.cancel_launches(db, scope, stack_id, failed_layers, at=clock.now())
            rows = await records.list_instances(db, scope, stack_id)
            existing = to_existing_instances(rows)
            for step in plan_steps(desired, existing, failed_layers=failed_layers):
                await _store_step(db, job, step)
            rows = await records.list_instances(db, scope, stack_id)
        context = LaunchContext(
            scope.organisation_id,
            stack_id,
            stack.nickname,
            stack.region,
            self._settings.agent_url,
            token=decrypt_token(stack, self._encryptor) or "",
            credentials=template["vendor"]["aws"]["cred"],
        )
        goal = Goal(stack.stack_status, stack.version_id)
        return StackSnapshot(goal, stack, context, desired, rows, version.create_time)

    async def _update(
        self, job: Job, snapshot: StackSnapshot, provisioner: Provisioner
    ) -> PassResult:
        terminable = list_terminable(snapshot.desired, to_existing_instances(snapshot.rows))
        terminating = [
            instance
            for instance in snapshot.list_instances(InstanceState.terminating)
            if instance.instance_key in terminable
        ]
        await self._terminate(job, provisioner, terminating)
        failed_layers: set[str] = set()
        launched: list[Instance] = []
        for instance in snapshot.list_instances(InstanceState.pending)[:LAUNCHES_MAX]:
            if instance.flag in failed_layers:
                continue
            try:
                launched.append(await self._launch(job, provisioner, instance))
            except PermanentError as error:
                failed_layers.add(instance.flag)
                await self._fail_layer(job, snapshot.goal, instance, str(error))
            if not await self._has_goal(job, snapshot.goal):
                return PassResult(snapshot.goal)
        instances = [
            *snapshot.list_instances(InstanceState.launching, InstanceState.running),
            *launched,
        ]
        observations = await asyncio.to_thread(provisioner.update_instances, instances)
        for instance in instances:
            observation = observations[instance.instance_key]
            await self._store_observation(job, snapshot, instance, observation)
        return PassResult(snapshot.goal)

    async def _delete(
        self, job: Job, snapshot: StackSnapshot, provisioner: Provisioner
    ) -> PassResult:
        terminating = snapshot.list_instances(InstanceState.terminating)
        terminated = await self._terminate(job, provisioner, terminating)
        is_deleted = len(terminated) == len(terminating) and await asyncio.to_thread(
            provisioner.delete_remaining
        )
        return PassResult(snapshot.goal, is_deleted=is_deleted)

    async def _terminate(
        self, job: Job, provisioner: Provisioner, instances: Sequence[Instance]
    ) -> Collection[str]:
        """The keys of the instances that no longer exist."""
        if not instances:
            return ()
        keys = await asyncio.to_thread(provisioner.terminate, instances)
        ids = [
            instance.instance_id
            for instance in instances
            if instance.instance_id and instance.instance_key in keys
        ]
        scope, stack_id, at = job.scope, job.subject, clock.now()
        async with self._locked_stack(job) as (db, _):
            await records.change_instances(
                db,
                scope,
                stack_id,
                keys,
                states=[InstanceState.terminating],
                at=at,
                state=InstanceState.terminated,
            )
            await records.set_container_status(db, scope, stack_id, ids, TERMINATED, at=at)
        return keys

    async def _launch(self, job: Job, provisioner: Provisioner, instance: Instance) -> Instance:
        """Store computed values first, so that a retry launches the same instance."""
        if COMPUTED in instance.provision.values():
            values = await asyncio.to_thread(provisioner.compute_values, instance.provision)
            provision = {**instance.provision, "computed": values}
            await self._change(job, instance, provision=records.format_provision(provision))
            instance = replace(instance, provision={**provision, **values})
        instance_id = await asyncio.to_thread(provisioner.launch, instance)
        await self._change(job, instance, state=InstanceState.launching, instance_id=instance_id)
        return replace(instance, state=InstanceState.launching, instance_id=instance_id)

    async def _change(self, job: Job, instance: Instance, **values: object) -> None:
        """Does nothing if the state has changed meanwhile, for example by an agent's report."""
        async with self._locked_stack(job) as (db, _):
            await records.change_instances(
                db,
                job.scope,
                job.subject,
                [instance.instance_key],
                states=[instance.state],
                at=clock.now(),
                **values,
            )

    async def _store_observation(
        self, job: Job, snapshot: StackSnapshot, instance: Instance, observation: Observation
    ) -> None:
        was_running = instance.state is InstanceState.running
        if observation.state is ObservedState.running:
            if not was_running or instance.is_outdated:
                addresses = records.format_addresses(observation.addresses)
                await self._change(job, instance, state=InstanceState.running, addresses=addresses)
        elif observation.state is ObservedState.starting:
            await self._store_starting(job, snapshot, instance)
        elif observation.state is ObservedState.gone and was_running:
            await self._change(
                job, instance, state=InstanceState.terminated, reason=observation.reason
            )
        else:
            unchangeable = observation.state is ObservedState.unchangeable
            state = InstanceState.running if unchangeable else InstanceState.failed
            reason = observation.reason or "the instance did not start"
            await self._fail_layer(job, snapshot.goal, instance, reason, state=state)

    async def _store_starting(self, job: Job, snapshot: StackSnapshot, instance: Instance) -> None:
        (row,) = [row for row in snapshot.rows if row.instance_key == instance.instance_key]
        if instance.state is InstanceState.running:  # stopped by somebody else and started again
            await self._change(job, instance, state=InstanceState.launching)
        elif (
            row.state == InstanceState.launching and clock.now() - row.update_time > START_TIME_MAX
        ):
            await self._fail_layer(
                job, snapshot.goal, instance, START_TIMED_OUT, state=InstanceState.terminating
            )

    async def _has_goal(self, job: Job, goal: Goal) -> bool:
        async with self._locked_stack(job) as (_, stack):
            return stack is not None and Goal(stack.stack_status, stack.version_id) == goal

    async def _fail_layer(
        self,
        job: Job,
        goal: Goal,
        instance: Instance,
        reason: str,
        state: InstanceState = InstanceState.failed,
    ) -> None:
        """Also stores the state of the instance; no further instance of the layer is launched."""
        scope, stack_id, at = job.scope, job.subject, clock.now()
        async with self._locked_stack(job) as (db, stack):
            assert stack is not None, "stacks are never removed"
            await records.change_instances(
                db,
                scope,
                stack_id,
                [instance.instance_key],
                states=[instance.state],
                at=at,
                state=state,
                reason=reason,
            )
            if Goal(stack.stack_status, stack.version_id) != goal:
                return
            await stacks.set_layer_status(
                db, scope, stack_id, instance.flag, LayerStatus.failed, reason=reason
            )

    async def _fail(self, job: Job, goal: Goal, reason: str) -> None:
        async with self._locked_stack(job) as (db, stack):
            if stack is not None and Goal(stack.stack_status, stack.version_id) == goal:
                await fail_stack(db, job, stack, reason)

    async def _store_reason(self, job: Job, goal: Goal, reason: str) -> None:
        """Show why the stack is still in progress; if the job fails, why the stack has failed."""
        async with self._locked_stack(job) as (db, stack):
            if stack is not None and Goal(stack.stack_status, stack.version_id) == goal:
                await stacks.set_status(
                    db,
                    job.scope,
                    job.subject,
                    StackStatus(goal.status),
                    reason=reason,
                    at=stack.update_time,
                )


async def _store_step(db: AsyncConnection, job: Job, step: PlanStep) -> None:
    scope, stack_id, at = job.scope, job.subject, clock.now()
    if isinstance(step, AddInstance):
        flag, ordinal = step.desired.slot
        await records.add_instance(
            db,
            scope,
            stack_id,
            instance_key=derive_id("ins", stack_id, flag, ordinal, step.generation),
            flag=flag,
            ordinal=ordinal,
            provision=step.desired.provision,
            at=at,
        )
        return
    values: dict[str, object] = {"state": InstanceState.terminating}
    if isinstance(step, ChangeInstanceType):
        values = {
            "state": InstanceState.launching,
            "provision": records.format_provision(step.provision),
        }
    await records.change_instances(
        db, scope, stack_id, [step.instance_key], states=ALIVE, at=at, **values
    )


async def fail_stack(db: AsyncConnection, job: Job, stack: Row, reason: str) -> None:
    """Also fails every layer in progress. The transaction must have locked the stack."""
    scope, stack_id = job.scope, job.subject
    for layer in await stacks.list_layers(db, scope, stack_id):
        if layer.status in LAYER_IN_PROGRESS:
            await stacks.set_layer_status(
                db, scope, stack_id, layer.flag, LayerStatus.failed, reason=reason
            )
    status = failed_status(stack.stack_status)
    await stacks.set_status(db, scope, stack_id, status, reason=reason, at=clock.now())
