"""Finds the organisation of a key that callers send before they have logged in."""

from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import TenantScope, metadata, of_tenant

# Key of the advisory lock.
_NAME_ASSIGNMENT_LOCK = 7_241_996_333

tenant_lookups = sa.Table(
    "tenant_lookups",
    metadata,
    sa.Column("organisation_id", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
)


class LookupKind(StrEnum):
    api_client = "api_client"
    short_name = "short_name"
    organisation = "organisation"


async def lock_name_assignment(db: AsyncConnection) -> None:
    """Until the transaction ends, no other transaction can choose a free short name."""
    await advisory_lock(db, _NAME_ASSIGNMENT_LOCK)


async def add_lookup(db: AsyncConnection, scope: TenantScope, kind: str, key: str) -> None:
    await db.execute(
        sa.insert(tenant_lookups).values(organisation_id=scope.organisation_id, kind=kind, key=key)
    )


async def remove_lookup(db: AsyncConnection, scope: TenantScope, kind: str, key: str) -> None:
    await db.execute(
        sa.delete(tenant_lookups).where(
            of_tenant(tenant_lookups, scope),
            tenant_lookups.c.kind == kind,
            tenant_lookups.c.key == key,
        )
    )


async def has_other_organisations(db: AsyncConnection, scope: TenantScope) -> bool:
    """Whether the installation has an organisation besides this one; names none of them."""
    result = await db.execute(sa.select(sa.func.has_other_organisations(scope.organisation_id)))
    return bool(result.scalar_one())


async def list_organisation_ids(db: AsyncConnection) -> list[str]:
    """Ids of every organisation, oldest first. Only the database's owner sees all of them."""
    stmt = sa.select(tenant_lookups.c.key).where(tenant_lookups.c.kind == LookupKind.organisation)
    return sorted((await db.execute(stmt)).scalars())


async def find_organisation_id(db: AsyncConnection, kind: str, key: str) -> str | None:
    """Exact match only. The SQL function reads across tenants; the table shows own rows only."""
    result = await db.execute(sa.select(sa.func.find_organisation_id(kind, key)))
    organisation_id: str | None = result.scalar_one()
    return organisation_id
