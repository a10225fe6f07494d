"""Stored versions of templates; secrets are stored separately from the body, encrypted."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.legacy.stacks.records import legacy_template_versions


async def add_version(
    db: AsyncConnection,
    scope: TenantScope,
    stack_id: str,
    version_id: str,
    *,
    number: int,
    body: bytes,
    encrypted_secrets: bytes | None,
    at: datetime,
) -> None:
    """`body` is the template as JSON, without secrets."""
    await db.execute(
        sa.insert(legacy_template_versions).values(
            organisation_id=scope.organisation_id,
            stack_id=stack_id,
            version_id=version_id,
            number=number,
            body=body.decode(),
            encrypted_secrets=encrypted_secrets,
            size=len(body),
            create_time=at,
        )
    )


async def find_latest_version(db: AsyncConnection, scope: TenantScope, stack_id: str) -> Row | None:
    stmt = (
        sa.select(legacy_template_versions)
        .where(
            of_tenant(legacy_template_versions, scope),
            legacy_template_versions.c.stack_id == stack_id,
        )
        .order_by(legacy_template_versions.c.number.desc())
        .limit(1)
    )
    return (await db.execute(stmt)).one_or_none()


async def find_version(
    db: AsyncConnection, scope: TenantScope, stack_id: str, version_id: str
) -> Row | None:
    stmt = sa.select(legacy_template_versions).where(
        of_tenant(legacy_template_versions, scope),
        legacy_template_versions.c.stack_id == stack_id,
        legacy_template_versions.c.version_id == version_id,
    )
    return (await db.execute(stmt)).one_or_none()


async def list_versions(db: AsyncConnection, scope: TenantScope, stack_id: str) -> Sequence[Row]:
    """Newest first, without bodies."""
    table = legacy_template_versions
    stmt = (
        sa.select(table.c.version_id, table.c.number, table.c.size, table.c.create_time)
        .where(of_tenant(table, scope), table.c.stack_id == stack_id)
        .order_by(table.c.number.desc())
    )
    return (await db.execute(stmt)).all()
