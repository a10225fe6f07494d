"""How a pass over a stack ends: its layers and the stack are settled, or it comes back."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.jobs.runner import Job
from nimbill.legacy.provisioning import records
from nimbill.legacy.provisioning.planning import (
    State,
    Wanted,
    is_at_rest,
    is_complete,
    plan,
    wanted_of,
)
from nimbill.legacy.provisioning.reconciler import TERMINATED, Goal, Passed, fail_stack, present
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.stack_moves import (
    IN_PROGRESS,
    LayerStatus,
    StackStatus,
    completed,
    failed,
)
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import shown

basis = chosen("container-complete")

GIVEN_UP = "it failed again and again"
COMPLETE = "complete"
PAUSE_MIN = timedelta(seconds=0.5)
PAUSE_MAX = timedelta(seconds=15)


async def settle(db: AsyncConnection, taken: Job) -> datetime | None:
    """The end of a pass; when to come back, where the stack is not there yet."""
    stack = await stacks.find_stack(db, taken.scope, taken.subject, lock=True)
    if stack is None or stack.stack_status not in IN_PROGRESS:
        return None
    passed: Passed | None = taken.prepared
    if passed is None or passed.aim != Goal(stack.stack_status, stack.version_id):
        return clock.now()  # somebody wants something else of it since
    if stack.stack_status == StackStatus.DELETE_IN_PROGRESS:
        return await _settle_leaving(db, taken, stack, passed)
    return await _settle_building(db, taken, stack)


async def give_up(db: AsyncConnection, taken: Job) -> None:
    """After the last try; the last trouble is what is told."""
    stack = await stacks.find_stack(db, taken.scope, taken.subject, lock=True)
    if stack is not None and stack.stack_status in IN_PROGRESS:
        await fail_stack(db, taken, stack, stack.reason or GIVEN_UP)


async def _settle_leaving(
    db: AsyncConnection, taken: Job, stack: Row, passed: Passed
) -> datetime | None:
    scope, stack_id, at = taken.scope, taken.subject, clock.now()
    rows = await records.list_instances(db, scope, stack_id)
    if not passed.cleared:
        return _later(rows)
    keys = [row.instance_key for row in rows]
    await records.change_instances(
        db, scope, stack_id, keys, before=[*State], at=at, state=State.ended
    )
    await records.end_containers(db, scope, stack_id, TERMINATED, at=at)
    await records.wipe_secrets(db, scope, stack_id)
    await stacks.put_status(db, scope, stack_id, completed(stack.stack_status), at=at)
    return None


async def _settle_building(db: AsyncConnection, taken: Job, stack: Row) -> datetime | None:
    scope, stack_id = taken.scope, taken.subject
    version = await templates.find_version(db, scope, stack_id, stack.version_id)
    assert version is not None, "a stack has the version it names"
    wanted = wanted_of(shown(version))
    rows = await records.list_instances(db, scope, stack_id)
    await _complete_layers(db, taken, wanted, rows)
    layers = await stacks.list_layers(db, scope, stack_id)
    failures = [layer for layer in layers if layer.status == LayerStatus.failed]
    under_way = [
        layer for layer in layers if layer.status in (LayerStatus.creating, LayerStatus.updating)
    ]
    if under_way or not is_at_rest(present(rows), [layer.flag for layer in layers]):
        planned = plan(wanted, present(rows), given_up=[layer.flag for layer in failures])
        more = planned or any(row.state == State.wanted for row in rows)
        return clock.now() if more else _later(rows)
    if failures:
        reason = f"{failures[0].flag}: {failures[0].reason}"
        status = failed(stack.stack_status)
    else:
        reason, status = None, completed(stack.stack_status)
    await stacks.put_status(db, scope, stack_id, status, reason=reason, at=clock.now())
    return None


async def _complete_layers(
    db: AsyncConnection, taken: Job, wanted: Sequence[Wanted], rows: Sequence[Row]
) -> None:
    """Whose instances all run, and whose containers are then complete."""
    scope, stack_id, at = taken.scope, taken.subject, clock.now()
    for layer in await stacks.list_layers(db, scope, stack_id):
        under_way = layer.status in (LayerStatus.creating, LayerStatus.updating)
        if not under_way or not is_complete(layer.flag, wanted, present(rows)):
            continue
        await stacks.put_layer(db, scope, stack_id, layer.flag, LayerStatus.completed)
        here = [row for row in rows if row.flag == layer.flag and row.state == State.running]
        ids = [row.instance_id for row in here]
        await records.put_container_status(db, scope, stack_id, ids, COMPLETE, at=at)


def _later(rows: Sequence[Row]) -> datetime:
    """The longer something takes, the less often it is looked at."""
    moving = (State.launching, State.leaving)
    since = max((row.update_time for row in rows if row.state in moving), default=clock.now())
    pause = min(max((clock.now() - since) / 4, PAUSE_MIN), PAUSE_MAX)
    return clock.now() + pause
