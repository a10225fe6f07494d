"""What an agent's report sets in motion: a replacement, or the end of a layer's way."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.legacy.provisioning import records
from nimbill.legacy.provisioning.planning import State
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.stack_moves import LEAVING, REPLACE, LayerStatus, may

basis = chosen("spot-replacement")
error_basis = chosen("agent-errors")

REASON_MAX = 500
UNSAID = "its agent reported an error"
UNDER_WAY = (LayerStatus.creating, LayerStatus.updating)


async def instance_leaves(
    db: AsyncConnection, scope: TenantScope, stack: Row, instance_id: str, *, reason: str
) -> None:
    """Once for each instance, however often it is told; the stack is held by the transaction."""
    instance = await records.find_instance(db, scope, stack.stack_id, instance_id)
    if instance is None or stack.stack_status in LEAVING:
        return
    changed = await records.change_instances(
        db,
        scope,
        stack.stack_id,
        [instance.instance_key],
        before=[State.launching, State.running],
        at=clock.now(),
        state=State.leaving,
        reason=reason,
    )
    if not changed:
        return
    layer = await _layer_of(db, scope, instance)
    if layer is not None and layer.status not in UNDER_WAY:
        await stacks.put_layer(db, scope, stack.stack_id, instance.flag, LayerStatus.updating)
    if may(REPLACE, stack.stack_status):
        await stacks.put_status(db, scope, stack.stack_id, REPLACE.after, at=clock.now())
    await stacks.ask_to_move(db, scope, stack.stack_id)


async def error_reported(
    db: AsyncConnection, scope: TenantScope, stack: Row, instance_id: str, *, message: str | None
) -> None:
    """A layer that is on its way fails with what its agent said; a completed one stays."""
    instance = await records.find_instance(db, scope, stack.stack_id, instance_id)
    layer = None if instance is None else await _layer_of(db, scope, instance)
    if layer is None or layer.status not in UNDER_WAY or stack.stack_status in LEAVING:
        return
    reason = (message or UNSAID)[:REASON_MAX]
    await stacks.put_layer(db, scope, stack.stack_id, layer.flag, LayerStatus.failed, reason=reason)
    await stacks.ask_to_move(db, scope, stack.stack_id)


async def _layer_of(db: AsyncConnection, scope: TenantScope, instance: Row) -> Row | None:
    layers = await stacks.list_layers(db, scope, instance.stack_id)
    return next((layer for layer in layers if layer.flag == instance.flag), None)
