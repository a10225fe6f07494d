"""Stored organisations."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant

organisations = sa.Table(
    "organisations",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("short_name", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


async def add_organisation(
    db: AsyncConnection, scope: TenantScope, *, name: str, short_name: str
) -> None:
    await db.execute(
        sa.insert(organisations).values(
            organisation_id=scope.organisation_id, name=name, short_name=short_name
        )
    )


async def find_organisation(db: AsyncConnection, scope: TenantScope) -> Row | None:
    stmt = sa.select(organisations).where(of_tenant(organisations, scope))
    return (await db.execute(stmt)).one_or_none()


async def lock_organisation(db: AsyncConnection, scope: TenantScope) -> None:
    """Until the transaction ends, no row that refers to the organisation can be added."""
    await db.execute(
        sa.select(organisations.c.organisation_id)
        .where(of_tenant(organisations, scope))
        .with_for_update()
    )
