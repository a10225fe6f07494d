"""The end of a reconciliation pass: completes or fails layers and stack, or plans a next pass."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock
from nimbill.jobs.runner import Job
from nimbill.legacy.provisioning import records
from nimbill.legacy.provisioning.instance_plan import (
    DesiredInstance,
    InstanceState,
    is_idle,
    is_layer_complete,
    list_desired_instances,
    plan_steps,
)
from nimbill.legacy.provisioning.reconciler import TERMINATED, fail_stack
from nimbill.legacy.provisioning.stack_snapshot import Goal, PassResult, to_existing_instances
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.stack_transitions import (
    IN_PROGRESS,
    LAYER_IN_PROGRESS,
    LayerStatus,
    StackStatus,
    completed_status,
    failed_status,
)
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import read_masked_template

# See docs/choices.md, container-complete.

DEFAULT_REASON = "every attempt failed"
COMPLETE = "complete"
PAUSE_MIN = timedelta(seconds=0.5)
PAUSE_MAX = timedelta(seconds=15)


async def finish_pass(db: AsyncConnection, job: Job) -> datetime | None:
    """Return the time of the next pass, or None if the stack is no longer in progress."""
    stack = await stacks.find_stack(db, job.scope, job.subject, lock=True)
    if stack is None or stack.stack_status not in IN_PROGRESS:
        return None
    result: PassResult | None = job.prepared
    if result is None or result.goal != Goal(stack.stack_status, stack.version_id):
        return clock.now()  # the goal has changed during the pass
    if stack.stack_status == StackStatus.DELETE_IN_PROGRESS:
        return await _finish_deletion(db, job, stack, result)
    return await _finish_update(db, job, stack)


async def fail_in_progress_stack(db: AsyncConnection, job: Job) -> None:
    """The stack fails; the stored reason is that of the last error."""
    stack = await stacks.find_stack(db, job.scope, job.subject, lock=True)
    if stack is not None and stack.stack_status in IN_PROGRESS:
        await fail_stack(db, job, stack, stack.reason or DEFAULT_REASON)


async def _finish_deletion(
    db: AsyncConnection, job: Job, stack: Row, result: PassResult
) -> datetime | None:
    scope, stack_id, at = job.scope, job.subject, clock.now()
    rows = await records.list_instances(db, scope, stack_id)
    if not result.is_deleted:
        return _choose_next_time(rows)
    keys = [row.instance_key for row in rows]
    await records.change_instances(
        db,
        scope,
        stack_id,
        keys,
        states=[*InstanceState],
        at=at,
        state=InstanceState.terminated,
    )
    await records.end_containers(db, scope, stack_id, TERMINATED, at=at)
    await records.delete_secrets(db, scope, stack_id)
    await stacks.set_status(db, scope, stack_id, completed_status(stack.stack_status), at=at)
    return None


async def _finish_update(db: AsyncConnection, job: Job, stack: Row) -> datetime | None:
    scope, stack_id = job.scope, job.subject
    version = await templates.find_version(db, scope, stack_id, stack.version_id)
    assert version is not None, "a stack has the version it names"
    desired = list_desired_instances(read_masked_template(version))
    rows = await records.list_instances(db, scope, stack_id)
    existing = to_existing_instances(rows)
    await _complete_layers(db, job, desired, rows)
    layers = await stacks.list_layers(db, scope, stack_id)
    failed = [layer for layer in layers if layer.status == LayerStatus.failed]
    in_progress = any(layer.status in LAYER_IN_PROGRESS for layer in layers)
    if in_progress or not is_idle(existing, [layer.flag for layer in layers]):
        steps = plan_steps(desired, existing, failed_layers=[layer.flag for layer in failed])
        has_work = steps or any(row.state == InstanceState.pending for row in rows)
        return clock.now() if has_work else _choose_next_time(rows)
    if failed:
        reason = f"{failed[0].flag}: {failed[0].reason}"
        status = failed_status(stack.stack_status)
    else:
        reason, status = None, completed_status(stack.stack_status)
    await stacks.set_status(db, scope, stack_id, status, reason=reason, at=clock.now())
    return None


async def _complete_layers(
    db: AsyncConnection, job: Job, desired: Sequence[DesiredInstance], rows: Sequence[Row]
) -> None:
    """A layer and its containers are complete when all of its instances run."""
    scope, stack_id, at = job.scope, job.subject, clock.now()
    existing = to_existing_instances(rows)
    for layer in await stacks.list_layers(db, scope, stack_id):
        if layer.status not in LAYER_IN_PROGRESS or not is_layer_complete(
            layer.flag, desired, existing
        ):
            continue
        await stacks.set_layer_status(db, scope, stack_id, layer.flag, LayerStatus.completed)
        instance_ids = [
            row.instance_id
            for row in rows
            if row.flag == layer.flag and row.state == InstanceState.running
        ]
        await records.set_container_status(db, scope, stack_id, instance_ids, COMPLETE, at=at)


def _choose_next_time(rows: Sequence[Row]) -> datetime:
    """The longer a change takes, the longer the pause until the next pass."""
    changing = (InstanceState.launching, InstanceState.terminating)
    since = max((row.update_time for row in rows if row.state in changing), default=clock.now())
    pause = min(max((clock.now() - since) / 4, PAUSE_MIN), PAUSE_MAX)
    return clock.now() + pause
