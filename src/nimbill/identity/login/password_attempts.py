"""Limit on password attempts per user name, counted in the database before the check."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.errors import TooManyRequests
from nimbill.identity.login import records

# See docs/choices.md, login-throttle.

ATTEMPTS_MAX = 10
WINDOW = timedelta(minutes=15)
# how long a browser or client stays known after a successful login of the user
KNOWN_SOURCE_LIFETIME = timedelta(days=365)
# Attempts on unknown organisations are counted here; no real id has this form.
UNKNOWN_ORGANISATION = TenantScope("nobody")


@dataclass(frozen=True, slots=True)
class PasswordAttempt:
    """A counted attempt."""

    scope: TenantScope
    bucket: bytes
    at: datetime


async def count_attempt(
    db: AsyncConnection, scope: TenantScope, *, name: str, known_source: str | None
) -> PasswordAttempt:
    """Refuse after ten wrong passwords in fifteen minutes, whether or not the name exists.

    Known sources of the user are counted separately, so that attempts from elsewhere cannot lock
    the user out.
    """
    return await _count(
        db,
        PasswordAttempt(scope, _get_bucket(name, known_source), clock.now()),
        "Too many wrong passwords for this user name. Try again later.",
    )


async def count_second_step(
    db: AsyncConnection, scope: TenantScope, user_id: str
) -> PasswordAttempt:
    """Refuse after ten wrong proofs in fifteen minutes, from wherever they come.

    Whoever tries knows the password, so a new browser must not get further attempts.
    """
    return await _count(
        db,
        PasswordAttempt(scope, _get_second_step_bucket(user_id), clock.now()),
        "Too many wrong codes for this user. Try again later.",
    )


async def _count(db: AsyncConnection, attempt: PasswordAttempt, detail: str) -> PasswordAttempt:
    retry_time = await records.reserve_attempt(
        db, attempt.scope, attempt.bucket, at=attempt.at, window=WINDOW, attempts_max=ATTEMPTS_MAX
    )
    if retry_time is not None:
        wait = max(int((retry_time - attempt.at).total_seconds()) + 1, 1)
        raise TooManyRequests("login_throttled", detail, retry_after=wait)
    return attempt


def _get_bucket(name: str, known_source: str | None) -> bytes:
    return sha256(f"{name.lower()}\0{known_source or ''}".encode()).digest()


def _get_second_step_bucket(user_id: str) -> bytes:
    """Hash twice: no name that somebody types has the same bucket."""
    return sha256(sha256(f"second step of {user_id}".encode()).digest()).digest()


async def forget_attempts(db: AsyncConnection, scope: TenantScope, user: Row) -> None:
    """Let the user log in at once, from everywhere, after somebody else has set a new password."""
    sources = await records.list_known_sources(db, scope, user.user_id)
    buckets = [_get_bucket(user.username, source) for source in (None, *sources)]
    await records.delete_attempts(db, scope, buckets)


async def uncount_attempt(db: AsyncConnection, attempt: PasswordAttempt) -> None:
    """Remove an attempt that succeeded or was not checked."""
    await records.delete_attempt(db, attempt.scope, attempt.bucket, at=attempt.at)
