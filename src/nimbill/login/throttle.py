"""How often a password may be guessed: counted per name, in the database, before it is checked."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill import clock
from nimbill.basis import chosen
from nimbill.errors import TooMany
from nimbill.login import records
from nimbill.storage import Scope, transaction

basis = chosen("login-throttle")

ATTEMPTS_MAX = 10
WINDOW = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One guess, already counted."""

    scope: Scope
    bucket: bytes
    at: datetime


async def count_attempt(
    db: AsyncConnection, scope: Scope, *, name: str, known_source: str | None
) -> Attempt:
    """TooMany after ten wrong guesses in fifteen minutes, whether or not the name exists.

    A source the user has logged in from before counts apart, so that strangers who guess
    cannot keep the right owner out.
    """
    text = f"{name.lower()}\0{known_source or ''}"
    attempt = Attempt(scope, sha256(text.encode()).digest(), clock.now())
    come_back = await records.reserve_attempt(
        db, scope, attempt.bucket, at=attempt.at, window=WINDOW, attempts_max=ATTEMPTS_MAX
    )
    if come_back is not None:
        wait = max(int((come_back - attempt.at).total_seconds()) + 1, 1)
        raise TooMany("login_throttled", "too many wrong passwords for this name", retry_after=wait)
    return attempt


async def forgive(db: AsyncConnection, attempt: Attempt) -> None:
    await records.forgive_attempt(db, attempt.scope, attempt.bucket, at=attempt.at)


async def counted_apart(
    engine: AsyncEngine, scope: Scope, *, name: str, known_source: str | None
) -> Attempt:
    """In a transaction of its own: the count must survive the refusal it may lead to."""
    async with transaction(engine, scope.organisation_id) as db:
        return await count_attempt(db, scope, name=name, known_source=known_source)
