"""Stored instances, and updates of containers and secrets that follow from them."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_tenant
from nimbill.legacy.containers.records import legacy_containers
from nimbill.legacy.provisioning.instance_plan import InstanceState
from nimbill.legacy.stacks.records import (
    legacy_instances,
    legacy_stacks,
    legacy_template_versions,
)

__all__ = ["legacy_instances"]


async def list_instances(db: AsyncConnection, scope: TenantScope, stack_id: str) -> Sequence[Row]:
    """All instances that the stack ever had, by layer and ordinal."""
    table = legacy_instances
    stmt = (
        sa.select(table)
        .where(of_tenant(table, scope), table.c.stack_id == stack_id)
        .order_by(table.c.flag, table.c.ordinal, table.c.create_time, table.c.instance_key)
    )
    return (await db.execute(stmt)).all()


async def find_instance(
    db: AsyncConnection, scope: TenantScope, stack_id: str, instance_id: str
) -> Row | None:
    stmt = sa.select(legacy_instances).where(
        of_tenant(legacy_instances, scope),
        legacy_instances.c.stack_id == stack_id,
        legacy_instances.c.instance_id == instance_id,
    )
    return (await db.execute(stmt)).first()


async def add_instance(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    *,
    instance_key: str,
    flag: str,
    ordinal: int,
    provision: Mapping[str, Any],
    at: datetime,
) -> None:
    await db.execute(
        sa.insert(legacy_instances).values(
            organisation_id=scope.organisation_id,
            stack_id=stack_id,
            instance_key=instance_key,
            flag=flag,
            ordinal=ordinal,
            provision=format_provision(provision),
            state=InstanceState.pending,
            create_time=at,
            update_time=at,
        )
    )


async def change_instances(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    instance_keys: Collection[str],
    *,
    states: Collection[InstanceState],
    at: datetime,
    **values: Any,
) -> int:
    """Change those that are in one of these states; return how many were changed."""
    result = await db.execute(
        sa.update(legacy_instances)
        .where(
            of_tenant(legacy_instances, scope),
            legacy_instances.c.stack_id == stack_id,
            is_any_of(legacy_instances.c.instance_key, instance_keys),
            legacy_instances.c.state.in_(list(states)),
        )
        .values(update_time=at, **values)
    )
    return int(result.rowcount)


async def cancel_launches(
    db: AsyncConnection, scope: TenantScope, stack_id: str, flags: Collection[str], *, at: datetime
) -> None:
    """Mark the pending instances of these layers as failed."""
    await db.execute(
        sa.update(legacy_instances)
        .where(
            of_tenant(legacy_instances, scope),
            legacy_instances.c.stack_id == stack_id,
            is_any_of(legacy_instances.c.flag, flags),
            legacy_instances.c.state == InstanceState.pending,
        )
        .values(state=InstanceState.failed, update_time=at)
    )


def format_provision(provision: Mapping[str, Any]) -> str:
    return json.dumps(provision, sort_keys=True)


def format_addresses(addresses: Mapping[str, str]) -> str | None:
    """None if no address is known."""
    return json.dumps(addresses, sort_keys=True) if addresses else None


async def set_container_status(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    instance_ids: Collection[str],
    status: str,
    *,
    at: datetime,
) -> None:
    """Set the status of containers that have one of these instance ids, or one as container id."""
    table = legacy_containers
    await db.execute(
        sa.update(table)
        .where(
            of_tenant(table, scope),
            table.c.stack_id == stack_id,
            sa.or_(
                is_any_of(table.c.instance_id, instance_ids),
                is_any_of(table.c.container_id, instance_ids),
            ),
        )
        .values(status=status, update_time=at)
    )


async def end_containers(
    db: AsyncConnection, scope: TenantScope, stack_id: str, status: str, *, at: datetime
) -> None:
    """Set a final status on all containers of a stack that do not have it yet."""
    await db.execute(
        sa.update(legacy_containers)
        .where(
            of_tenant(legacy_containers, scope),
            legacy_containers.c.stack_id == stack_id,
            legacy_containers.c.status != status,
        )
        .values(status=status, update_time=at)
    )


async def delete_secrets(db: AsyncConnection, scope: TenantScope, stack_id: str) -> None:
    """Delete the template secrets and the token of a stack that no longer exists."""
    await db.execute(
        sa.update(legacy_template_versions)
        .where(
            of_tenant(legacy_template_versions, scope),
            legacy_template_versions.c.stack_id == stack_id,
        )
        .values(encrypted_secrets=None)
    )
    await db.execute(
        sa.update(legacy_stacks)
        .where(of_tenant(legacy_stacks, scope), legacy_stacks.c.stack_id == stack_id)
        .values(encrypted_token=None, token_hash=b"")
    )
