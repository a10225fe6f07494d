"""The stored logo of an organisation."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant

portal_logos = sa.Table(
    "portal_logos",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)


async def store_logo(
    db: AsyncConnection, scope: TenantScope, *, media_type: str, digest: str, content: bytes
) -> None:
    """Store the logo in place of the one before."""
    values = {"media_type": media_type, "digest": digest, "content": content}
    stmt = insert(portal_logos).values(organisation_id=scope.organisation_id, **values)
    await db.execute(stmt.on_conflict_do_update(index_elements=["organisation_id"], set_=values))


async def delete_logo(db: AsyncConnection, scope: TenantScope) -> None:
    stmt = sa.delete(portal_logos).where(of_tenant(portal_logos, scope))
    await db.execute(stmt)


async def find_logo(db: AsyncConnection, scope: TenantScope) -> Row | None:
    stmt = sa.select(portal_logos).where(of_tenant(portal_logos, scope))
    return (await db.execute(stmt)).one_or_none()


async def find_logo_digest(db: AsyncConnection, scope: TenantScope) -> str | None:
    stmt = sa.select(portal_logos.c.digest).where(of_tenant(portal_logos, scope))
    digest: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return digest
