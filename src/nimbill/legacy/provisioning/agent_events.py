"""Effects of agent reports: a terminating instance is replaced, an error fails a layer."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.legacy.provisioning import records
from nimbill.legacy.provisioning.instance_plan import InstanceState
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.stack_transitions import (
    DELETING,
    LAYER_IN_PROGRESS,
    REPLACE,
    LayerStatus,
    is_allowed,
)

# See docs/choices.md, spot-replacement.
# See docs/choices.md, agent-errors.

REASON_MAX = 500
DEFAULT_REASON = "its agent reported an error"


async def replace_instance(
    db: AsyncConnection, scope: TenantScope, stack: Row, instance_id: str, *, reason: str
) -> None:
    """Repeated reports change nothing. The transaction must have locked the stack."""
    instance = await records.find_instance(db, scope, stack.stack_id, instance_id)
    if instance is None or stack.stack_status in DELETING:
        return
    changed = await records.change_instances(
        db,
        scope,
        stack.stack_id,
        [instance.instance_key],
        states=[InstanceState.launching, InstanceState.running],
        at=clock.now(),
        state=InstanceState.terminating,
        reason=reason,
    )
    if not changed:
        return
    layer = await _find_layer(db, scope, instance)
    if layer is not None and layer.status not in LAYER_IN_PROGRESS:
        await stacks.set_layer_status(
            db, scope, stack.stack_id, instance.flag, LayerStatus.updating
        )
    if is_allowed(REPLACE, stack.stack_status):
        await stacks.set_status(db, scope, stack.stack_id, REPLACE.target, at=clock.now())
    await stacks.request_reconciliation(db, scope, stack.stack_id)


async def fail_layer_of_instance(
    db: AsyncConnection, scope: TenantScope, stack: Row, instance_id: str, *, message: str | None
) -> None:
    """Only a layer that is in progress fails; a completed one does not change."""
    instance = await records.find_instance(db, scope, stack.stack_id, instance_id)
    layer = None if instance is None else await _find_layer(db, scope, instance)
    if layer is None or layer.status not in LAYER_IN_PROGRESS or stack.stack_status in DELETING:
        return
    reason = (message or DEFAULT_REASON)[:REASON_MAX]
    await stacks.set_layer_status(
        db, scope, stack.stack_id, layer.flag, LayerStatus.failed, reason=reason
    )
    await stacks.request_reconciliation(db, scope, stack.stack_id)


async def _find_layer(db: AsyncConnection, scope: TenantScope, instance: Row) -> Row | None:
    layers = await stacks.list_layers(db, scope, instance.stack_id)
    return next((layer for layer in layers if layer.flag == instance.flag), None)
