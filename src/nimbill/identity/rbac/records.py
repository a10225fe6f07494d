"""Stored roles, mappings and filters, and the questions asked of them."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.effective_permissions import role_filters, role_mappings, roles
from nimbill.database.tenant_scope import Row, TenantScope

RoleKey = tuple[str, str]  # namespace, name


def _of_root(scope: TenantScope, root_user: str) -> list[sa.ColumnElement[bool]]:
    """Roles belong to a root user and are there for all of its subusers."""
    return [roles.c.organisation_id == scope.organisation_id, roles.c.root_user == root_user]


async def list_roles(
    db: AsyncConnection, scope: TenantScope, root_user: str, namespace: str | None
) -> Sequence[Row]:
    question = (
        sa.select(roles)
        .where(*_of_root(scope, root_user))
        .order_by(roles.c.namespace, roles.c.name.collate("C"))  # the same on every server
    )
    if namespace is not None:
        question = question.where(roles.c.namespace == namespace)
    return (await db.execute(question)).all()


async def role_exists(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> bool:
    question = sa.select(
        sa.exists().where(
            *_of_root(scope, root_user), roles.c.namespace == key[0], roles.c.name == key[1]
        )
    )
    return bool((await db.execute(question)).scalar_one())


async def lock_role(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> Row | None:
    """Found and held until the transaction ends, so that what was checked is what is changed."""
    question = (
        sa.select(roles)
        .where(*_of_root(scope, root_user), roles.c.namespace == key[0], roles.c.name == key[1])
        .with_for_update()
    )
    return (await db.execute(question)).one_or_none()


async def hold_roles(
    db: AsyncConnection, scope: TenantScope, root_user: str, keys: Collection[RoleKey]
) -> dict[RoleKey, frozenset[str]]:
    """What each of these roles permits; none of them changes until the transaction ends.

    Many may hold a role at once, and all take them in the same order: nobody waits in a circle.
    """
    question = (
        sa.select(roles)
        .where(*_of_root(scope, root_user), sa.tuple_(roles.c.namespace, roles.c.name).in_(keys))
        .order_by(roles.c.namespace, roles.c.name)
        .with_for_update(read=True)
    )
    found = await db.execute(question)
    return {(row.namespace, row.name): frozenset(row.permissions) for row in found}


async def users_with_role(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> list[str]:
    question = sa.select(role_mappings.c.user_id).where(
        role_mappings.c.organisation_id == scope.organisation_id,
        role_mappings.c.root_user == root_user,
        role_mappings.c.namespace == key[0],
        role_mappings.c.role == key[1],
    )
    return list((await db.execute(question)).scalars())


async def add_role(
    db: AsyncConnection,
    scope: TenantScope,
    root_user: str,
    key: RoleKey,
    permissions: Sequence[str],
) -> None:
    namespace, name = key
    await db.execute(
        sa.insert(roles).values(
            organisation_id=scope.organisation_id,
            root_user=root_user,
            namespace=namespace,
            name=name,
            permissions=list(permissions),
        )
    )


async def change_role(
    db: AsyncConnection,
    scope: TenantScope,
    root_user: str,
    key: RoleKey,
    *,
    name: str,
    permissions: Sequence[str],
) -> None:
    """A new name follows into the mappings by itself."""
    await db.execute(
        sa.update(roles)
        .where(*_of_root(scope, root_user), roles.c.namespace == key[0], roles.c.name == key[1])
        .values(name=name, permissions=list(permissions))
    )


async def delete_role(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> bool:
    """All its mappings go with it."""
    deleted = await db.execute(
        sa.delete(roles).where(
            *_of_root(scope, root_user), roles.c.namespace == key[0], roles.c.name == key[1]
        )
    )
    return bool(deleted.rowcount)


async def mapped_roles(db: AsyncConnection, scope: TenantScope, user_id: str) -> list[RoleKey]:
    question = (
        sa.select(role_mappings.c.namespace, role_mappings.c.role)
        .where(
            role_mappings.c.organisation_id == scope.organisation_id,
            role_mappings.c.user_id == user_id,
        )
        .order_by(role_mappings.c.namespace, role_mappings.c.role.collate("C"))
    )
    return [(row.namespace, row.role) for row in await db.execute(question)]


async def map_roles(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    root_user: str,
    user_id: str,
    keys: Collection[RoleKey],
) -> None:
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "root_user": root_user,
            "user_id": user_id,
            "namespace": namespace,
            "role": role,
        }
        for namespace, role in keys
    ]
    if rows:
        await db.execute(insert(role_mappings).on_conflict_do_nothing(), rows)


async def unmap_all_roles(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    await db.execute(
        sa.delete(role_mappings).where(
            role_mappings.c.organisation_id == scope.organisation_id,
            role_mappings.c.user_id == user_id,
        )
    )


async def add_filters(
    db: AsyncConnection, scope: TenantScope, user_id: str, rules: Collection[tuple[str, str, str]]
) -> None:
    """Rules as (namespace, type, resource); one that is there already stays as it is."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "user_id": user_id,
            "namespace": namespace,
            "type": type_,
            "resource": resource,
        }
        for namespace, type_, resource in rules
    ]
    if rows:
        await db.execute(insert(role_filters).on_conflict_do_nothing(), rows)


async def clear_filters(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    await db.execute(
        sa.delete(role_filters).where(
            role_filters.c.organisation_id == scope.organisation_id,
            role_filters.c.user_id == user_id,
        )
    )
