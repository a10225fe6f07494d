"""Stored instances: what is wanted, what was launched, what is leaving."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows
from nimbill.legacy.containers.records import legacy_containers
from nimbill.legacy.provisioning.planning import State
from nimbill.legacy.stacks.records import legacy_stacks, legacy_template_versions

legacy_instances = sa.Table(
    "legacy_instances",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, primary_key=True),
    sa.Column("instance_key", sa.Text, primary_key=True),
    sa.Column("flag", sa.Text, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("provision", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("instance_id", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def list_instances(db: AsyncConnection, scope: TenantScope, stack_id: str) -> Sequence[Row]:
    """All there ever were, by their places."""
    table = legacy_instances
    question = (
        sa.select(table)
        .where(table.c.organisation_id == scope.organisation_id, table.c.stack_id == stack_id)
        .order_by(table.c.flag, table.c.ordinal, table.c.create_time, table.c.instance_key)
    )
    return (await db.execute(question)).all()


async def find_instance(
    db: AsyncConnection, scope: TenantScope, stack_id: str, instance_id: str
) -> Row | None:
    """By the id it was launched with."""
    question = sa.select(legacy_instances).where(
        legacy_instances.c.organisation_id == scope.organisation_id,
        legacy_instances.c.stack_id == stack_id,
        legacy_instances.c.instance_id == instance_id,
    )
    return (await db.execute(question)).first()


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
    """To be launched."""
    await db.execute(
        sa.insert(legacy_instances).values(
            organisation_id=scope.organisation_id,
            stack_id=stack_id,
            instance_key=instance_key,
            flag=flag,
            ordinal=ordinal,
            provision=written(provision),
            state=State.wanted,
            create_time=at,
            update_time=at,
        )
    )


async def change_instances(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    keys: Collection[str],
    *,
    before: Collection[State],
    at: datetime,
    **values: Any,
) -> int:
    """Those of them that are still in one of these states; how many."""
    changed = await db.execute(
        sa.update(legacy_instances)
        .where(
            legacy_instances.c.organisation_id == scope.organisation_id,
            legacy_instances.c.stack_id == stack_id,
            visible_rows(legacy_instances.c.instance_key, keys),
            legacy_instances.c.state.in_(list(before)),
        )
        .values(update_time=at, **values)
    )
    return int(changed.rowcount)


async def launch_no_more(
    db: AsyncConnection, scope: TenantScope, stack_id: str, flags: Collection[str], *, at: datetime
) -> None:
    """What was to be launched for layers that were given up."""
    await db.execute(
        sa.update(legacy_instances)
        .where(
            legacy_instances.c.organisation_id == scope.organisation_id,
            legacy_instances.c.stack_id == stack_id,
            visible_rows(legacy_instances.c.flag, flags),
            legacy_instances.c.state == State.wanted,
        )
        .values(state=State.failed, update_time=at)
    )


def written(provision: Mapping[str, Any]) -> str:
    return json.dumps(provision, sort_keys=True)


async def put_container_status(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    instance_ids: Collection[str],
    status: str,
    *,
    at: datetime,
) -> None:
    """Of the containers on these instances, whichever of the two ids tells."""
    table = legacy_containers
    await db.execute(
        sa.update(table)
        .where(
            table.c.organisation_id == scope.organisation_id,
            table.c.stack_id == stack_id,
            sa.or_(
                visible_rows(table.c.instance_id, instance_ids),
                visible_rows(table.c.container_id, instance_ids),
            ),
        )
        .values(status=status, update_time=at)
    )


async def end_containers(
    db: AsyncConnection, scope: TenantScope, stack_id: str, status: str, *, at: datetime
) -> None:
    """All of a stack that are not told to have ended."""
    await db.execute(
        sa.update(legacy_containers)
        .where(
            legacy_containers.c.organisation_id == scope.organisation_id,
            legacy_containers.c.stack_id == stack_id,
            legacy_containers.c.status != status,
        )
        .values(status=status, update_time=at)
    )


async def wipe_secrets(db: AsyncConnection, scope: TenantScope, stack_id: str) -> None:
    """Of a stack that is gone: nothing of what was sealed for it is needed again."""
    await db.execute(
        sa.update(legacy_template_versions)
        .where(
            legacy_template_versions.c.organisation_id == scope.organisation_id,
            legacy_template_versions.c.stack_id == stack_id,
        )
        .values(sealed_secrets=None)
    )
    await db.execute(
        sa.update(legacy_stacks)
        .where(
            legacy_stacks.c.organisation_id == scope.organisation_id,
            legacy_stacks.c.stack_id == stack_id,
        )
        .values(sealed_token=None, token_hash=b"")
    )
