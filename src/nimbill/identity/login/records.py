"""Stored token families, refresh tokens, login attempts and known login sources."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
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

login_attempts = sa.Table(
    "login_attempts",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("bucket", sa.LargeBinary, primary_key=True),
    sa.Column("attempts", ARRAY(sa.DateTime(timezone=True)), nullable=False),
)

known_login_sources = sa.Table(
    "known_login_sources",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
)

CLOCK_SKEW_MAX = timedelta(minutes=1)  # between the servers of an installation

# Every token request executes these, so they bypass SQLAlchemy (see tenant_scope.fetch_row).
_FIND_CLIENT = """
SELECT organisation_id, user_id, secret_hash, kind, credential_epoch, kid
FROM find_api_client($1, $2)
"""
_ADD_FAMILY = """
WITH added AS (
    INSERT INTO token_families (
        organisation_id, family_id, user_id, client_id, product, subject_type, credential_epoch,
        revoked, create_time, user_agent, address
    ) VALUES ($1, $2, $3, $4, $5, $6, $7, false, $8, $10, $11)
    RETURNING organisation_id, family_id, create_time
)
INSERT INTO refresh_tokens (organisation_id, family_id, token_hash, issue_time)
SELECT organisation_id, family_id, $9, create_time FROM added
RETURNING family_id
"""


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


async def reserve_attempt(
    db: AsyncConnection,
    scope: TenantScope,
    bucket: bytes,
    *,
    at: datetime,
    window: timedelta,
    attempts_max: int,
) -> datetime | None:
    """Count an attempt before the check; return the time of the next allowed one if refused."""
    new_row = insert(login_attempts).values(
        organisation_id=scope.organisation_id, bucket=bucket, attempts=[]
    )
    # One statement inserts or finds the row and locks it: no deletion can come in between.
    lock = new_row.on_conflict_do_update(
        index_elements=["organisation_id", "bucket"],
        set_={"attempts": login_attempts.c.attempts},
    ).returning(login_attempts.c.attempts)
    counted: list[datetime] = (await db.execute(lock)).scalar_one()
    # Ignore attempts in the future: a clock set back must not extend the wait.
    recent = [time for time in counted if at - window < time < at + CLOCK_SKEW_MAX]
    if len(recent) >= attempts_max:
        retry_time: datetime = min(recent) + window
        return retry_time
    match_bucket = (of_tenant(login_attempts, scope), login_attempts.c.bucket == bucket)
    await db.execute(sa.update(login_attempts).where(*match_bucket).values(attempts=[*recent, at]))
    return None


async def delete_attempt(
    db: AsyncConnection, scope: TenantScope, bucket: bytes, *, at: datetime
) -> None:
    """Remove an attempt, so that it no longer counts."""
    await db.execute(
        sa.update(login_attempts)
        .where(of_tenant(login_attempts, scope), login_attempts.c.bucket == bucket)
        .values(attempts=sa.func.array_remove(login_attempts.c.attempts, at))
    )


async def delete_attempts(
    db: AsyncConnection, scope: TenantScope, buckets: Collection[bytes]
) -> None:
    await db.execute(
        sa.delete(login_attempts).where(
            of_tenant(login_attempts, scope), login_attempts.c.bucket.in_(buckets)
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


async def delete_old_attempts(db: AsyncConnection, scope: TenantScope, *, before: datetime) -> None:
    attempts = login_attempts.c.attempts
    newest = attempts[sa.func.cardinality(attempts)]
    await db.execute(
        sa.delete(login_attempts).where(
            of_tenant(login_attempts, scope),
            sa.or_(sa.func.cardinality(attempts) == 0, newest < before),
        )
    )


async def delete_old_sources(db: AsyncConnection, scope: TenantScope, *, before: datetime) -> None:
    await db.execute(
        sa.delete(known_login_sources).where(
            of_tenant(known_login_sources, scope), known_login_sources.c.last_seen < before
        )
    )


async def list_known_sources(db: AsyncConnection, scope: TenantScope, user_id: str) -> list[str]:
    stmt = sa.select(known_login_sources.c.source).where(
        of_tenant(known_login_sources, scope), known_login_sources.c.user_id == user_id
    )
    return list((await db.execute(stmt)).scalars())


async def is_known_source(
    db: AsyncConnection, scope: TenantScope, user_id: str, source: str
) -> bool:
    stmt = sa.select(
        sa.exists().where(
            of_tenant(known_login_sources, scope),
            known_login_sources.c.user_id == user_id,
            known_login_sources.c.source == source,
        )
    )
    return bool((await db.execute(stmt)).scalar_one())


async def remember_source(
    db: AsyncConnection, scope: TenantScope, user_id: str, source: str, *, at: datetime
) -> None:
    stmt = insert(known_login_sources).values(
        organisation_id=scope.organisation_id, user_id=user_id, source=source, last_seen=at
    )
    await db.execute(
        stmt.on_conflict_do_update(
            index_elements=["organisation_id", "user_id", "source"], set_={"last_seen": at}
        )
    )
