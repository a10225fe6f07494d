"""Failed logins, counted in the database for all workers and machines, and known login sources.

A password or code is counted before it is checked and uncounted if it was right, so that parallel
requests get no extra attempts. Of addresses and clients only failures are counted. A user's known
sources are counted separately, so that attempts from elsewhere cannot lock the user out.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.foundation import clock
from nimbill.foundation.errors import TooManyRequests

# See docs/choices.md, login-throttle.

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

# Addresses, clients and names of unknown organisations are counted here; no real id has this form.
UNKNOWN_ORGANISATION = TenantScope("nobody")
# how long a browser or client stays known after a successful login of the user
KNOWN_SOURCE_LIFETIME = timedelta(days=365)
CLOCK_SKEW_MAX = timedelta(minutes=1)  # between the servers of an installation


@dataclass(frozen=True, slots=True)
class FailureLimit:
    failures_max: int
    window: timedelta
    code: str
    detail: str


OF_NAME = FailureLimit(
    10,
    timedelta(minutes=15),
    "login_throttled",
    "Too many wrong passwords for this user name. Try again later.",
)
OF_SECOND_STEP = FailureLimit(
    10,
    timedelta(minutes=15),
    "login_throttled",
    "Too many wrong codes for this user. Try again later.",
)
OF_ADDRESS = FailureLimit(
    100,
    timedelta(minutes=1),
    "logins_failing",
    "Too many failed logins from this address. Try again later.",
)
OF_CLIENT = FailureLimit(
    60,
    timedelta(minutes=1),
    "logins_failing",
    "Too many failed logins by this client. Try again later.",
)
WINDOW_MAX = timedelta(minutes=15)  # the longest of them


@dataclass(frozen=True, slots=True)
class FailureCount:
    """What counts together. The database stores a hash of the name or address."""

    scope: TenantScope
    limit: FailureLimit
    bucket: bytes


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    count: FailureCount
    at: datetime


def count_of_name(scope: TenantScope, name: str, known_source: str | None) -> FailureCount:
    """Wrong passwords for a user name, whether or not it exists."""
    bucket = sha256(f"{name.lower()}\0{known_source or ''}".encode()).digest()
    return FailureCount(scope, OF_NAME, bucket)


def count_of_second_step(scope: TenantScope, user_id: str) -> FailureCount:
    """Wrong proofs, from every source: the attacker knows the password already."""
    return FailureCount(scope, OF_SECOND_STEP, _hash_twice(f"second step of {user_id}"))


def count_of_old_password(scope: TenantScope, user_id: str) -> FailureCount:
    """Wrong old passwords in a session, which may be that of a stolen token."""
    return FailureCount(scope, OF_NAME, _hash_twice(f"old password of {user_id}"))


def count_of_address(address: str) -> FailureCount:
    return FailureCount(UNKNOWN_ORGANISATION, OF_ADDRESS, _hash_twice(f"address {address}"))


def count_of_client(client_id: str) -> FailureCount:
    """Wrong passwords of a client that has proved its secret."""
    return FailureCount(UNKNOWN_ORGANISATION, OF_CLIENT, _hash_twice(f"client {client_id}"))


def _hash_twice(text: str) -> bytes:
    """No name that somebody types has the same bucket."""
    return sha256(sha256(text.encode()).digest()).digest()


async def refuse_if_reached(db: AsyncConnection, *counts: FailureCount) -> None:
    """Raise TooManyRequests if one of these limits is reached; count nothing."""
    now = clock.now()
    for count in counts:
        stmt = sa.select(login_attempts.c.attempts).where(*_match(count))
        counted = (await db.execute(stmt)).scalar_one_or_none() or []
        _refuse_if_full(count, _list_recent(count, counted, now), now)


async def add_attempt(db: AsyncConnection, count: FailureCount) -> CountedAttempt:
    """Count an attempt, or raise TooManyRequests."""
    now = clock.now()
    new_row = insert(login_attempts).values(
        organisation_id=count.scope.organisation_id, bucket=count.bucket, attempts=[]
    )
    # One statement inserts or finds the row and locks it: no deletion can come in between.
    lock = new_row.on_conflict_do_update(
        index_elements=["organisation_id", "bucket"],
        set_={"attempts": login_attempts.c.attempts},
    ).returning(login_attempts.c.attempts)
    recent = _list_recent(count, (await db.execute(lock)).scalar_one(), now)
    _refuse_if_full(count, recent, now)
    stmt = sa.update(login_attempts).where(*_match(count)).values(attempts=[*recent, now])
    await db.execute(stmt)
    return CountedAttempt(count, now)


def _list_recent(count: FailureCount, attempts: list[datetime], now: datetime) -> list[datetime]:
    """Ignore attempts in the future: a clock set back must not extend the wait."""
    return [at for at in attempts if now - count.limit.window < at < now + CLOCK_SKEW_MAX]


def _refuse_if_full(count: FailureCount, recent: list[datetime], now: datetime) -> None:
    limit = count.limit
    if len(recent) >= limit.failures_max:
        wait = ceil((min(recent) + limit.window - now).total_seconds())
        raise TooManyRequests(limit.code, limit.detail, retry_after=max(wait, 1))


async def remove_attempt(db: AsyncConnection, attempt: CountedAttempt) -> None:
    """Uncount an attempt that was right or was not checked."""
    remaining = sa.func.array_remove(login_attempts.c.attempts, attempt.at)
    stmt = sa.update(login_attempts).where(*_match(attempt.count)).values(attempts=remaining)
    await db.execute(stmt)


def _match(count: FailureCount) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        of_tenant(login_attempts, count.scope),
        login_attempts.c.bucket == count.bucket,
    )


async def forget_attempts(db: AsyncConnection, scope: TenantScope, user: Row) -> None:
    """Let the user log in at once, from everywhere, after somebody else has set a new password."""
    stmt = sa.select(known_login_sources.c.source).where(
        of_tenant(known_login_sources, scope),
        known_login_sources.c.user_id == user.user_id,
    )
    sources = (await db.execute(stmt)).scalars()
    counts = [count_of_name(scope, user.username, source) for source in (None, *sources)]
    for count in (*counts, count_of_old_password(scope, user.user_id)):
        await forget_count(db, count)


async def forget_count(db: AsyncConnection, count: FailureCount) -> None:
    await db.execute(sa.delete(login_attempts).where(*_match(count)))


async def delete_old_attempts(db: AsyncConnection, scope: TenantScope, *, before: datetime) -> None:
    attempts = login_attempts.c.attempts
    newest = attempts[sa.func.cardinality(attempts)]
    await db.execute(
        sa.delete(login_attempts).where(
            of_tenant(login_attempts, scope),
            sa.or_(sa.func.cardinality(attempts) == 0, newest < before),
        )
    )


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


async def delete_old_sources(db: AsyncConnection, scope: TenantScope, *, before: datetime) -> None:
    await db.execute(
        sa.delete(known_login_sources).where(
            of_tenant(known_login_sources, scope),
            known_login_sources.c.last_seen < before,
        )
    )
