"""Stored roles of version 3 and their assignments to users."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant

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


async def update_role(
    db: AsyncConnection, scope: TenantScope, role_id: str, *, name: str, document: str, at: datetime
) -> bool:
    """Return False if there is no such role."""
    result = await db.execute(
        sa.update(legacy_roles)
        .where(of_tenant(legacy_roles, scope), legacy_roles.c.role_id == role_id)
        .values(name=name, scope=document, update_time=at)
    )
    return bool(result.rowcount)


async def delete_role(db: AsyncConnection, scope: TenantScope, role_id: str) -> bool:
    """Also detaches it from all users. Return False if there is no such role."""
    result = await db.execute(
        sa.delete(legacy_roles).where(
            of_tenant(legacy_roles, scope), legacy_roles.c.role_id == role_id
        )
    )
    return bool(result.rowcount)


async def lock_role(db: AsyncConnection, scope: TenantScope, role_id: str) -> bool:
    """Prevent its deletion until the transaction ends. Return False if there is no such role."""
    stmt = (
        sa.select(legacy_roles.c.role_id)
        .where(of_tenant(legacy_roles, scope), legacy_roles.c.role_id == role_id)
        .with_for_update(read=True, key_share=True)
    )
    return (await db.execute(stmt)).one_or_none() is not None


async def list_roles(db: AsyncConnection, scope: TenantScope) -> Sequence[Row]:
    """Oldest first."""
    stmt = (
        sa.select(legacy_roles)
        .where(of_tenant(legacy_roles, scope))
        .order_by(legacy_roles.c.create_time, legacy_roles.c.role_id)
    )
    return (await db.execute(stmt)).all()


async def list_roles_of_user(
    db: AsyncConnection, scope: TenantScope, user_id: str
) -> Sequence[Row]:
    """The roles of a user with their assignments, in the order of attachment."""
    stmt = (
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
        .where(of_tenant(legacy_user_roles, scope), legacy_user_roles.c.user_id == user_id)
        .order_by(legacy_user_roles.c.create_time, legacy_user_roles.c.user_role_id)
    )
    return (await db.execute(stmt)).all()


async def attach_role(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    user_role_id: str,
    user_id: str,
    role_id: str,
    at: datetime,
) -> str:
    """Return the id of the assignment; an existing assignment keeps its id."""
    new = insert(legacy_user_roles).values(
        organisation_id=scope.organisation_id,
        user_role_id=user_role_id,
        user_id=user_id,
        role_id=role_id,
        create_time=at,
        update_time=at,
    )
    stmt = new.on_conflict_do_update(
        index_elements=["organisation_id", "user_id", "role_id"], set_={"update_time": at}
    ).returning(legacy_user_roles.c.user_role_id)
    stored_id: str = (await db.execute(stmt)).scalar_one()
    return stored_id


async def detach_role(
    db: AsyncConnection, scope: TenantScope, *, user_id: str, role_id: str
) -> bool:
    """Return False if the user does not have the role."""
    result = await db.execute(
        sa.delete(legacy_user_roles).where(
            of_tenant(legacy_user_roles, scope),
            legacy_user_roles.c.user_id == user_id,
            legacy_user_roles.c.role_id == role_id,
        )
    )
    return bool(result.rowcount)


async def detach_other_roles(
    db: AsyncConnection, scope: TenantScope, *, user_id: str, kept_role_id: str
) -> None:
    await db.execute(
        sa.delete(legacy_user_roles).where(
            of_tenant(legacy_user_roles, scope),
            legacy_user_roles.c.user_id == user_id,
            legacy_user_roles.c.role_id != kept_role_id,
        )
    )
