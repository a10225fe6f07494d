"""Stored stacks, their layers, instances and the versions of their templates."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant
from nimbill.foundation import clock
from nimbill.jobs import records as jobs
from nimbill.legacy.stacks.stack_transitions import LayerStatus, StackStatus

RECONCILE_STACK = "reconcile_stack"  # job type; the subject is the stack id

legacy_stacks = sa.Table(
    "legacy_stacks",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, primary_key=True),
    sa.Column("nickname", sa.Text, nullable=False),
    sa.Column("deployment", sa.Text, nullable=False),
    sa.Column("provisioner", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("stack_status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("version_id", sa.Text, nullable=False),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("username", sa.Text, nullable=False),
    sa.Column("token_hash", sa.LargeBinary, nullable=False),
    sa.Column("encrypted_token", sa.LargeBinary),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

legacy_layers = sa.Table(
    "legacy_layers",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, primary_key=True),
    sa.Column("flag", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
)

# `body` does not contain secrets; queries are in nimbill.legacy.templates.records
legacy_template_versions = sa.Table(
    "legacy_template_versions",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, primary_key=True),
    sa.Column("version_id", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("encrypted_secrets", sa.LargeBinary),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

# `provision` and `addresses` are JSON; most queries are in nimbill.legacy.provisioning.records
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
    sa.Column("addresses", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def list_stacks_with_template(db: AsyncConnection, scope: TenantScope) -> Sequence[Row]:
    """Stacks that are not deleted, each with its current template, oldest first."""
    stmt = _select_with_template(scope).where(
        legacy_stacks.c.stack_status != StackStatus.DELETE_COMPLETE,
    )
    stmt = stmt.order_by(legacy_stacks.c.create_time, legacy_stacks.c.stack_id)
    return (await db.execute(stmt)).all()


async def find_stack_with_template(
    db: AsyncConnection, scope: TenantScope, stack_id: str
) -> Row | None:
    """Also finds a deleted stack."""
    stmt = _select_with_template(scope).where(legacy_stacks.c.stack_id == stack_id)
    return (await db.execute(stmt)).one_or_none()


def _select_with_template(scope: TenantScope) -> sa.Select[*tuple[Any, ...]]:
    versions = legacy_template_versions
    return (
        sa.select(legacy_stacks, versions.c.body)
        .join(
            versions,
            sa.and_(
                versions.c.organisation_id == legacy_stacks.c.organisation_id,
                versions.c.stack_id == legacy_stacks.c.stack_id,
                versions.c.version_id == legacy_stacks.c.version_id,
            ),
        )
        .where(of_tenant(legacy_stacks, scope))
    )


async def find_stack(
    db: AsyncConnection, scope: TenantScope, stack_id: str, *, lock: bool = False
) -> Row | None:
    """Also finds a deleted stack; `lock` holds its row until the transaction ends."""
    stmt = sa.select(legacy_stacks).where(
        of_tenant(legacy_stacks, scope), legacy_stacks.c.stack_id == stack_id
    )
    if lock:
        stmt = stmt.with_for_update()
    return (await db.execute(stmt)).one_or_none()


async def add_stack(
    db: AsyncConnection, scope: TenantScope, *, at: datetime, **values: Any
) -> None:
    await db.execute(
        sa.insert(legacy_stacks).values(
            organisation_id=scope.organisation_id, create_time=at, update_time=at, **values
        )
    )


async def set_version(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    version_id: str,
    *,
    nickname: str,
    status: StackStatus,
    at: datetime,
) -> None:
    """Set the template version that the stack is to be brought to."""
    await db.execute(
        sa.update(legacy_stacks)
        .where(of_tenant(legacy_stacks, scope), legacy_stacks.c.stack_id == stack_id)
        .values(
            version_id=version_id,
            nickname=nickname,
            stack_status=status,
            reason=None,
            update_time=at,
        )
    )


async def set_status(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    status: StackStatus,
    *,
    reason: str | None = None,
    at: datetime,
) -> None:
    await db.execute(
        sa.update(legacy_stacks)
        .where(of_tenant(legacy_stacks, scope), legacy_stacks.c.stack_id == stack_id)
        .values(stack_status=status, reason=reason, update_time=at)
    )


async def list_launched_instances(
    db: AsyncConnection, scope: TenantScope, stack_ids: Collection[str]
) -> Sequence[Row]:
    """Instances that were launched and are not terminated."""
    stmt = (
        sa.select(legacy_instances)
        .where(
            of_tenant(legacy_instances, scope),
            is_any_of(legacy_instances.c.stack_id, stack_ids),
            legacy_instances.c.instance_id.is_not(None),
            legacy_instances.c.state.in_(("launching", "running", "terminating")),
        )
        .order_by(legacy_instances.c.ordinal, legacy_instances.c.create_time)
    )
    return (await db.execute(stmt)).all()


async def list_layers(db: AsyncConnection, scope: TenantScope, stack_id: str) -> Sequence[Row]:
    stmt = (
        sa.select(legacy_layers)
        .where(of_tenant(legacy_layers, scope), legacy_layers.c.stack_id == stack_id)
        .order_by(legacy_layers.c.position, legacy_layers.c.flag)
    )
    return (await db.execute(stmt)).all()


async def replace_layers(
    db: AsyncConnection, scope: TenantScope, stack_id: str, flags: Sequence[str]
) -> None:
    """Store the layers in the order of the template: `creating` if new, else `updating`."""
    known = {row.flag for row in await list_layers(db, scope, stack_id)}
    await db.execute(
        sa.delete(legacy_layers).where(
            of_tenant(legacy_layers, scope), legacy_layers.c.stack_id == stack_id
        )
    )
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "stack_id": stack_id,
            "flag": flag,
            "position": position,
            "status": LayerStatus.updating if flag in known else LayerStatus.creating,
        }
        for position, flag in enumerate(flags)
    ]
    await db.execute(sa.insert(legacy_layers), rows)


async def set_layer_status(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    flag: str,
    status: LayerStatus,
    *,
    reason: str | None = None,
) -> None:
    await db.execute(
        sa.update(legacy_layers)
        .where(
            of_tenant(legacy_layers, scope),
            legacy_layers.c.stack_id == stack_id,
            legacy_layers.c.flag == flag,
        )
        .values(status=status, reason=reason)
    )


async def request_reconciliation(
    db: AsyncConnection, scope: TenantScope, stack_id: str, *, due: datetime | None = None
) -> None:
    """Add a reconciliation job, or move a waiting one forward.

    Call it in the transaction that changes the goal of the stack.
    """
    due = due or clock.now()
    if await jobs.add_job(db, scope, RECONCILE_STACK, due=due, subject=stack_id) is None:
        await jobs.run_sooner(db, scope, RECONCILE_STACK, subject=stack_id, due=due)


async def has_existing_stacks(db: AsyncConnection, scope: TenantScope) -> bool:
    """Whether any stack may still have instances."""
    stmt = sa.select(
        sa.exists().where(
            of_tenant(legacy_stacks, scope),
            legacy_stacks.c.stack_status != StackStatus.DELETE_COMPLETE,
        )
    )
    return bool((await db.execute(stmt)).scalar_one())
