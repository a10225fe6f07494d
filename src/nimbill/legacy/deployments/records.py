"""Queries for the stacks, layers and containers of a deployment."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_tenant
from nimbill.legacy.containers.records import legacy_containers
from nimbill.legacy.stacks.records import legacy_layers, legacy_stacks
from nimbill.legacy.stacks.stack_transitions import StackStatus

RUNNING = ("starting", "updating", "restarting", "running")


async def list_stacks(
    db: AsyncConnection, scope: TenantScope, deployment: str, *, lock: bool = False
) -> Sequence[Row]:
    """Stacks that are not deleted, oldest first; `lock` holds their rows, in this order."""
    stmt = (
        sa.select(legacy_stacks)
        .where(
            of_tenant(legacy_stacks, scope),
            legacy_stacks.c.deployment == deployment,
            legacy_stacks.c.stack_status != StackStatus.DELETE_COMPLETE,
        )
        .order_by(legacy_stacks.c.create_time, legacy_stacks.c.stack_id)
    )
    if lock:
        stmt = stmt.with_for_update()
    return (await db.execute(stmt)).all()


async def list_layers(
    db: AsyncConnection, scope: TenantScope, stack_ids: Collection[str]
) -> Sequence[Row]:
    stmt = (
        sa.select(legacy_layers)
        .where(of_tenant(legacy_layers, scope), is_any_of(legacy_layers.c.stack_id, stack_ids))
        .order_by(legacy_layers.c.position, legacy_layers.c.flag)
    )
    return (await db.execute(stmt)).all()


async def has_running_containers(
    db: AsyncConnection, scope: TenantScope, stack_ids: Collection[str]
) -> bool:
    stmt = sa.select(
        sa.exists().where(
            of_tenant(legacy_containers, scope),
            is_any_of(legacy_containers.c.stack_id, stack_ids),
            legacy_containers.c.status.in_(RUNNING),
        )
    )
    return bool((await db.execute(stmt)).scalar_one())
