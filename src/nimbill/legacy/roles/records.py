"""Stored roles of version 3 and the users who have them."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata

legacy_roles = sa.Table(
    "legacy_roles",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("role_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

legacy_user_roles = sa.Table(
    "legacy_user_roles",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_role_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("role_id", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def add_role(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    role_id: str,
    user_id: str,
    name: str,
    document: str,
    at: datetime,
) -> None:
    await db.execute(
        sa.insert(legacy_roles).values(
            organisation_id=scope.organisation_id,
            role_id=role_id,
            user_id=user_id,
            name=name,
            scope=document,
            create_time=at,
            update_time=at,
        )
    )


async def put_role(
    db: AsyncConnection, scope: TenantScope, role_id: str, *, name: str, document: str, at: datetime
) -> bool:
    """Whether there was such a role to change."""
    changed = await db.execute(
        sa.update(legacy_roles)
        .where(
            legacy_roles.c.organisation_id == scope.organisation_id,
            legacy_roles.c.role_id == role_id,
        )
        .values(name=name, scope=document, update_time=at)
    )
    return bool(changed.rowcount)


async def delete_role(db: AsyncConnection, scope: TenantScope, role_id: str) -> bool:
    """It goes from every user who has it."""
    deleted = await db.execute(
        sa.delete(legacy_roles).where(
            legacy_roles.c.organisation_id == scope.organisation_id,
            legacy_roles.c.role_id == role_id,
        )
    )
    return bool(deleted.rowcount)


async def lock_role(db: AsyncConnection, scope: TenantScope, role_id: str) -> bool:
    """Whether there is such a role; it stays until the transaction ends."""
    question = (
        sa.select(legacy_roles.c.role_id)
        .where(
            legacy_roles.c.organisation_id == scope.organisation_id,
            legacy_roles.c.role_id == role_id,
        )
        .with_for_update(read=True, key_share=True)
    )
    return (await db.execute(question)).one_or_none() is not None


async def list_roles(db: AsyncConnection, scope: TenantScope) -> Sequence[Row]:
    """The oldest first."""
    question = (
        sa.select(legacy_roles)
        .where(legacy_roles.c.organisation_id == scope.organisation_id)
        .order_by(legacy_roles.c.create_time, legacy_roles.c.role_id)
    )
    return (await db.execute(question)).all()


async def list_roles_of_user(
    db: AsyncConnection, scope: TenantScope, user_id: str
) -> Sequence[Row]:
    """Those attached to the user, in the order they were, and what attaches each of them."""
    question = (
        sa.select(
            legacy_roles,
            legacy_user_roles.c.user_role_id,
            legacy_user_roles.c.create_time.label("attach_time"),
            legacy_user_roles.c.update_time.label("reattach_time"),
        )
        .join_from(
            legacy_user_roles,
            legacy_roles,
            (legacy_roles.c.organisation_id == legacy_user_roles.c.organisation_id)
            & (legacy_roles.c.role_id == legacy_user_roles.c.role_id),
        )
        .where(
            legacy_user_roles.c.organisation_id == scope.organisation_id,
            legacy_user_roles.c.user_id == user_id,
        )
        .order_by(legacy_user_roles.c.create_time, legacy_user_roles.c.user_role_id)
    )
    return (await db.execute(question)).all()


async def put_user_role(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    user_role_id: str,
    user_id: str,
    role_id: str,
    at: datetime,
) -> str:
    """The user has the role from now on; answers the id under which, the old one if he had it."""
    added = insert(legacy_user_roles).values(
        organisation_id=scope.organisation_id,
        user_role_id=user_role_id,
        user_id=user_id,
        role_id=role_id,
        create_time=at,
        update_time=at,
    )
    kept = added.on_conflict_do_update(
        index_elements=["organisation_id", "user_id", "role_id"], set_={"update_time": at}
    ).returning(legacy_user_roles.c.user_role_id)
    attached: str = (await db.execute(kept)).scalar_one()
    return attached


async def take_role(db: AsyncConnection, scope: TenantScope, *, user_id: str, role_id: str) -> bool:
    """Whether the user had it."""
    taken = await db.execute(
        sa.delete(legacy_user_roles).where(
            legacy_user_roles.c.organisation_id == scope.organisation_id,
            legacy_user_roles.c.user_id == user_id,
            legacy_user_roles.c.role_id == role_id,
        )
    )
    return bool(taken.rowcount)


async def take_other_roles(
    db: AsyncConnection, scope: TenantScope, *, user_id: str, but_role_id: str
) -> None:
    await db.execute(
        sa.delete(legacy_user_roles).where(
            legacy_user_roles.c.organisation_id == scope.organisation_id,
            legacy_user_roles.c.user_id == user_id,
            legacy_user_roles.c.role_id != but_role_id,
        )
    )
