"""Stored containers, with the status that was last reported."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant

legacy_containers = sa.Table(
    "legacy_containers",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("container_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, nullable=False),
    sa.Column("agent_id", sa.Text, nullable=False),
    sa.Column("instance_id", sa.Text),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def find_container(db: AsyncConnection, scope: TenantScope, container_id: str) -> Row | None:
    stmt = sa.select(legacy_containers).where(
        of_tenant(legacy_containers, scope), legacy_containers.c.container_id == container_id
    )
    return (await db.execute(stmt)).one_or_none()


async def list_containers(
    db: AsyncConnection, scope: TenantScope, condition: sa.ColumnElement[bool]
) -> Sequence[Row]:
    stmt = (
        sa.select(legacy_containers)
        .where(of_tenant(legacy_containers, scope), condition)
        .order_by(legacy_containers.c.container_id)
    )
    return (await db.execute(stmt)).all()


def is_in_stack(stack_id: str) -> sa.ColumnElement[bool]:
    return legacy_containers.c.stack_id == stack_id


def is_on_instance(instance_id: str) -> sa.ColumnElement[bool]:
    return legacy_containers.c.instance_id == instance_id
