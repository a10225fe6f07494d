"""Stored links with which a person chooses a password, and the queries on them."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.identity.users.records import users

password_links = sa.Table(
    "password_links",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("product", sa.Text, nullable=False),
    sa.Column("credential_epoch", sa.Integer, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expire_time", sa.DateTime(timezone=True), nullable=False),
)


async def add_link(
    db: AsyncConnection,
    scope: TenantScope,
    user: Row,
    *,
    token_hash: bytes,
    purpose: str,
    product: str,
    at: datetime,
    expire_time: datetime,
) -> None:
    """Store a link that ends with the present password of the user."""
    await db.execute(
        sa.insert(password_links).values(
            organisation_id=scope.organisation_id,
            token_hash=token_hash,
            user_id=user.user_id,
            purpose=purpose,
            product=product,
            credential_epoch=user.credential_epoch,
            create_time=at,
            expire_time=expire_time,
        )
    )


async def count_links(
    db: AsyncConnection, scope: TenantScope, user_id: str, *, purpose: str, since: datetime
) -> int:
    """Count the links of a user that were made since then."""
    stmt = sa.select(sa.func.count()).where(
        of_tenant(password_links, scope),
        password_links.c.user_id == user_id,
        password_links.c.purpose == purpose,
        password_links.c.create_time > since,
    )
    count: int = (await db.execute(stmt)).scalar_one()
    return count


async def find_user_of_link(
    db: AsyncConnection, scope: TenantScope, token_hash: bytes, *, product: str, at: datetime
) -> Row | None:
    """Find the user of a link that is valid at this time and older than no password change."""
    stmt = (
        sa.select(users)
        .join_from(
            users,
            password_links,
            (password_links.c.organisation_id == users.c.organisation_id)
            & (password_links.c.user_id == users.c.user_id)
            & (password_links.c.credential_epoch == users.c.credential_epoch),
        )
        .where(
            of_tenant(users, scope),
            of_tenant(password_links, scope),
            password_links.c.token_hash == token_hash,
            password_links.c.product == product,
            password_links.c.expire_time > at,
        )
    )
    return (await db.execute(stmt)).one_or_none()


async def use_link(db: AsyncConnection, scope: TenantScope, token_hash: bytes) -> bool:
    """Delete the link; False if another request has used it. Of two at once, one waits here."""
    result = await db.execute(
        sa.delete(password_links).where(
            of_tenant(password_links, scope), password_links.c.token_hash == token_hash
        )
    )
    return bool(result.rowcount)


async def delete_links_of_user(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    await db.execute(
        sa.delete(password_links).where(
            of_tenant(password_links, scope), password_links.c.user_id == user_id
        )
    )


async def delete_expired_links(db: AsyncConnection, scope: TenantScope, *, at: datetime) -> None:
    await db.execute(
        sa.delete(password_links).where(
            of_tenant(password_links, scope), password_links.c.expire_time <= at
        )
    )
