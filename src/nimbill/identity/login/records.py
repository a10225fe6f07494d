"""Stored token families and refresh tokens."""

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, fetch_row, metadata, of_tenant
from nimbill.identity.users.records import users

token_families = sa.Table(
    "token_families",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("family_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("client_id", sa.Text),
    sa.Column("product", sa.Text, nullable=False),
    sa.Column("subject_type", sa.Text, nullable=False),
    sa.Column("credential_epoch", sa.Integer, nullable=False),
    sa.Column("revoked", sa.Boolean, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("user_agent", sa.Text),
    sa.Column("address", sa.Text),
)

refresh_tokens = sa.Table(
    "refresh_tokens",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("family_id", sa.Text, nullable=False),
    sa.Column("issue_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("used_time", sa.DateTime(timezone=True)),
    sa.Column("encrypted_successor", sa.LargeBinary),
)

# Every token request executes these.
_FIND_CLIENT, _ADD_FAMILY = (
    Path(__file__).with_name(name).read_text() for name in ("find_client.sql", "add_family.sql")
)


class StoredClient(NamedTuple):
    """An API client and its user; all fields are None for an unknown client."""

    organisation_id: str
    user_id: str
    secret_hash: bytes | None
    kind: str
    credential_epoch: int
    kid: str


async def find_client(db: AsyncConnection, client_id: str, product: str) -> StoredClient:
    """Find the client and set its organisation on the transaction."""
    return StoredClient(*await fetch_row(db, _FIND_CLIENT, client_id, product))


async def add_family(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    family_id: str,
    user_id: str,
    client_id: str | None,
    product: str,
    subject_type: str,
    epoch: int,
    token_hash: bytes,
    at: datetime,
    user_agent: str | None,
    address: str | None,
) -> None:
    """Store a family and its first refresh token in one statement."""
    await fetch_row(
        db,
        _ADD_FAMILY,
        *(scope.organisation_id, family_id, user_id, client_id, product, subject_type, epoch, at),
        *(token_hash, user_agent, address),
    )


async def lock_refresh_token(
    db: AsyncConnection, scope: TenantScope, token_hash: bytes
) -> Row | None:
    """Lock the token's family, then read the token, so that concurrent uses are serialised.

    Deletions also lock the family before its tokens; the same order prevents deadlocks.
    """
    match_token = [of_tenant(refresh_tokens, scope), refresh_tokens.c.token_hash == token_hash]
    family = sa.select(refresh_tokens.c.family_id).where(*match_token).scalar_subquery()
    lock = (
        sa.select(token_families.c.family_id)
        .where(of_tenant(token_families, scope), token_families.c.family_id == family)
        .with_for_update()
    )
    if (await db.execute(lock)).one_or_none() is None:
        return None
    stmt = (
        sa.select(refresh_tokens, token_families)
        .join_from(
            refresh_tokens,
            token_families,
            (token_families.c.organisation_id == refresh_tokens.c.organisation_id)
            & (token_families.c.family_id == refresh_tokens.c.family_id),
        )
        .where(*match_token)
    )
    return (await db.execute(stmt)).one_or_none()


async def use_refresh_token(
    db: AsyncConnection,
    scope: TenantScope,
    token_hash: bytes,
    *,
    at: datetime,
    successor_hash: bytes,
    encrypted_successor: bytes,
    family_id: str,
) -> None:
    await db.execute(
        sa.update(refresh_tokens)
        .where(of_tenant(refresh_tokens, scope), refresh_tokens.c.token_hash == token_hash)
        .values(used_time=at, encrypted_successor=encrypted_successor)
    )
    await db.execute(
        sa.insert(refresh_tokens).values(
            organisation_id=scope.organisation_id,
            token_hash=successor_hash,
            family_id=family_id,
            issue_time=at,
        )
    )


async def revoke_family(db: AsyncConnection, scope: TenantScope, family_id: str) -> None:
    await db.execute(
        sa.update(token_families)
        .where(of_tenant(token_families, scope), token_families.c.family_id == family_id)
        .values(revoked=True)
    )


async def delete_sessions(
    db: AsyncConnection, scope: TenantScope, user_id: str, product: str
) -> None:
    """Delete the console sessions of the user. Tokens of API clients are kept."""
    await db.execute(
        sa.delete(token_families).where(
            of_tenant(token_families, scope),
            token_families.c.user_id == user_id,
            token_families.c.product == product,
            token_families.c.client_id.is_(None),
        )
    )


async def delete_old_families(
    db: AsyncConnection, scope: TenantScope, *, before: datetime, unused_since: datetime
) -> None:
    """Delete families that are too old, and those of clients that can no longer be refreshed.

    Families of consoles and revoked families are kept until they are too old: access tokens depend
    on them.
    """
    in_use = sa.exists().where(
        refresh_tokens.c.organisation_id == token_families.c.organisation_id,
        refresh_tokens.c.family_id == token_families.c.family_id,
        refresh_tokens.c.issue_time >= unused_since,
    )
    unused = sa.and_(
        token_families.c.client_id.is_not(None),
        ~token_families.c.revoked,
        token_families.c.create_time < unused_since,
        ~in_use,
    )
    await db.execute(
        sa.delete(token_families).where(
            of_tenant(token_families, scope), sa.or_(token_families.c.create_time < before, unused)
        )
    )


async def replace_password_hash(
    db: AsyncConnection, scope: TenantScope, user_id: str, *, old: str, new: str
) -> None:
    """Replace the hash of the same password, unless the password was changed meanwhile."""
    await db.execute(
        sa.update(users)
        .where(of_tenant(users, scope), users.c.user_id == user_id, users.c.password_hash == old)
        .values(password_hash=new)
    )
