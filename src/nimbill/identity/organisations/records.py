"""Stored organisations."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, metadata

organisations = sa.Table(
    "organisations",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("short_name", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


async def load_organisation_name(db: AsyncConnection, scope: TenantScope) -> str | None:
    """Return the full name, or None if the organisation does not exist."""
    stmt = sa.select(organisations.c.name).where(
        organisations.c.organisation_id == scope.organisation_id
    )
    name: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return name


async def add_organisation(
    db: AsyncConnection, scope: TenantScope, *, name: str, short_name: str
) -> None:
    await db.execute(
        sa.insert(organisations).values(
            organisation_id=scope.organisation_id, name=name, short_name=short_name
        )
    )
