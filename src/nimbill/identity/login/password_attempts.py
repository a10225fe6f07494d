"""How often a password may be guessed: counted per name, in the database, before it is checked."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import TooMany
from nimbill.identity.login import records

basis = chosen("login-throttle")

ATTEMPTS_MAX = 10
WINDOW = timedelta(minutes=15)
# how long a browser or a client that logged somebody in is remembered for that
SOURCE_KEPT = timedelta(days=365)
# guesses at organisations that are none count here: no id of ours looks like this
NOBODY = TenantScope("nobody")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One guess, already counted."""

    scope: TenantScope
    bucket: bytes
    at: datetime


async def count_attempt(
    db: AsyncConnection, scope: TenantScope, *, name: str, known_source: str | None
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
