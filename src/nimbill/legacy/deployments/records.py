"""What the stored stacks of version 3 say about a deployment."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, visible_rows
from nimbill.legacy.containers.records import legacy_containers
from nimbill.legacy.provisioning.records import legacy_instances
from nimbill.legacy.stacks.records import legacy_layers, legacy_stacks
from nimbill.legacy.stacks.stack_moves import StackStatus

RUNNING = ("starting", "updating", "restarting", "running")


async def stacks_of(
    db: AsyncConnection, scope: TenantScope, deployment: str, *, lock: bool = False
) -> Sequence[Row]:
    """Those that are not deleted, the oldest first; held in this order where they will change."""
    question = (
        sa.select(legacy_stacks)
        .where(
            legacy_stacks.c.organisation_id == scope.organisation_id,
            legacy_stacks.c.deployment == deployment,
            legacy_stacks.c.stack_status != StackStatus.DELETE_COMPLETE,
        )
        .order_by(legacy_stacks.c.create_time, legacy_stacks.c.stack_id)
    )
    if lock:
        question = question.with_for_update()
    return (await db.execute(question)).all()


async def layers_of(
    db: AsyncConnection, scope: TenantScope, stacks: Collection[str]
) -> Sequence[Row]:
    question = (
        sa.select(legacy_layers)
        .where(
            legacy_layers.c.organisation_id == scope.organisation_id,
            visible_rows(legacy_layers.c.stack_id, stacks),
        )
        .order_by(legacy_layers.c.position, legacy_layers.c.flag)
    )
    return (await db.execute(question)).all()


async def instances_of(
    db: AsyncConnection, scope: TenantScope, stacks: Collection[str]
) -> Sequence[Row]:
    """Those that exist: launched, and not yet ended."""
    question = (
        sa.select(legacy_instances)
        .where(
            legacy_instances.c.organisation_id == scope.organisation_id,
            visible_rows(legacy_instances.c.stack_id, stacks),
            legacy_instances.c.instance_id.is_not(None),
            legacy_instances.c.state.in_(("launching", "running", "leaving")),
        )
        .order_by(legacy_instances.c.ordinal, legacy_instances.c.create_time)
    )
    return (await db.execute(question)).all()


async def any_container_runs(
    db: AsyncConnection, scope: TenantScope, stacks: Collection[str]
) -> bool:
    question = sa.select(
        sa.exists().where(
            legacy_containers.c.organisation_id == scope.organisation_id,
            visible_rows(legacy_containers.c.stack_id, stacks),
            legacy_containers.c.status.in_(RUNNING),
        )
    )
    return bool((await db.execute(question)).scalar_one())
