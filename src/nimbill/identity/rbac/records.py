"""Stored roles, mappings and filters, and the queries on them."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.effective_permissions import role_filters, role_mappings, roles
from nimbill.database.tenant_scope import Row, TenantScope, of_tenant

RoleKey = tuple[str, str]  # namespace, name


def _match_root_user(scope: TenantScope, root_user: str) -> list[sa.ColumnElement[bool]]:
    """Roles belong to a root user and can be mapped to all of its subusers."""
    return [of_tenant(roles, scope), roles.c.root_user == root_user]


def _match_role(scope: TenantScope, root_user: str, key: RoleKey) -> list[sa.ColumnElement[bool]]:
    namespace, name = key
    return [
        *_match_root_user(scope, root_user),
        roles.c.namespace == namespace,
        roles.c.name == name,
    ]


async def list_roles(
    db: AsyncConnection, scope: TenantScope, root_user: str, namespace: str | None
) -> Sequence[Row]:
    stmt = (
        sa.select(roles)
        .where(*_match_root_user(scope, root_user))
        # The order must not depend on the locale of the server.
        .order_by(roles.c.namespace, roles.c.name.collate("C"))
    )
    if namespace is not None:
        stmt = stmt.where(roles.c.namespace == namespace)
    return (await db.execute(stmt)).all()


async def role_exists(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> bool:
    stmt = sa.select(sa.exists().where(*_match_role(scope, root_user, key)))
    return bool((await db.execute(stmt)).scalar_one())


async def list_roles_named(
    db: AsyncConnection, scope: TenantScope, root_user: str, name: str
) -> Sequence[Row]:
    """The roles of all namespaces with this name, in any letter case."""
    stmt = sa.select(roles).where(
        *_match_root_user(scope, root_user), sa.func.lower(roles.c.name) == sa.func.lower(name)
    )
    return (await db.execute(stmt)).all()


async def lock_role(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> Row | None:
    """Lock the row until the transaction ends."""
    return await find_role(db, scope, root_user, key, lock=True)


async def find_role(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey, *, lock: bool
) -> Row | None:
    stmt = sa.select(roles).where(*_match_role(scope, root_user, key))
    return (await db.execute(stmt.with_for_update() if lock else stmt)).one_or_none()


async def lock_role_permissions(
    db: AsyncConnection, scope: TenantScope, root_user: str, keys: Collection[RoleKey]
) -> dict[RoleKey, frozenset[str]]:
    """Return the permissions of these roles and lock the roles until the transaction ends.

    The locks are shared and always acquired in the same order, which prevents deadlocks.
    """
    stmt = (
        sa.select(roles)
        .where(
            *_match_root_user(scope, root_user),
            sa.tuple_(roles.c.namespace, roles.c.name).in_(keys),
        )
        .order_by(roles.c.namespace, roles.c.name)
        .with_for_update(read=True)
    )
    rows = await db.execute(stmt)
    return {(row.namespace, row.name): frozenset(row.permissions) for row in rows}


async def list_users_with_role(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> list[str]:
    namespace, name = key
    stmt = sa.select(role_mappings.c.user_id).where(
        of_tenant(role_mappings, scope),
        role_mappings.c.root_user == root_user,
        role_mappings.c.namespace == namespace,
        role_mappings.c.role == name,
    )
    return list((await db.execute(stmt)).scalars())


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


async def update_role(
    db: AsyncConnection,
    scope: TenantScope,
    root_user: str,
    key: RoleKey,
    *,
    name: str,
    permissions: Sequence[str],
) -> None:
    """Change the role. A foreign key passes a new name on to the mappings."""
    await db.execute(
        sa.update(roles)
        .where(*_match_role(scope, root_user, key))
        .values(name=name, permissions=list(permissions))
    )


async def delete_role(
    db: AsyncConnection, scope: TenantScope, root_user: str, key: RoleKey
) -> None:
    """Delete the role. A foreign key deletes its mappings."""
    await db.execute(sa.delete(roles).where(*_match_role(scope, root_user, key)))


async def list_mapped_roles(db: AsyncConnection, scope: TenantScope, user_id: str) -> list[RoleKey]:
    stmt = (
        sa.select(role_mappings.c.namespace, role_mappings.c.role)
        .where(of_tenant(role_mappings, scope), role_mappings.c.user_id == user_id)
        .order_by(role_mappings.c.namespace, role_mappings.c.role.collate("C"))
    )
    return [(row.namespace, row.role) for row in await db.execute(stmt)]


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


async def delete_mappings(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    await db.execute(
        sa.delete(role_mappings).where(
            of_tenant(role_mappings, scope), role_mappings.c.user_id == user_id
        )
    )


async def add_filters(
    db: AsyncConnection, scope: TenantScope, user_id: str, rules: Collection[tuple[str, str, str]]
) -> None:
    """Add rules given as (namespace, type, resource); existing rules are kept."""
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


async def delete_filters(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    await db.execute(
        sa.delete(role_filters).where(
            of_tenant(role_filters, scope), role_filters.c.user_id == user_id
        )
    )
