"""One request from the door to the answer: its id, its caller, its transaction."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from litestar import Request
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access import uploads
from nimbill.access.caller import Caller
from nimbill.access.credentials import CALLER_LOADERS, CallerLoader
from nimbill.access.signing_keys import active_kid, load_signing_keys
from nimbill.access.tokens import Claims, Issuer, Tokens
from nimbill.access.uploads import Upload
from nimbill.database.tenant_scope import (
    TenantScope,
    is_database_unavailable,
    set_tenant,
    unavailable,
)
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.settings import Settings
from nimbill.foundation.vocabulary import Product

REQUEST_CONTEXT = "nimbill.visit"

rate_basis = chosen("request-rate")


# does a piece of stored work at once; whether it was there to be done
RunJobNow = Callable[[TenantScope, str], Awaitable[bool]]


async def _run_no_job(_scope: TenantScope, _work_id: str) -> bool:
    return False


class Resources:
    """What one worker process holds for as long as it lives."""

    def __init__(
        self,
        settings: Settings,
        engine: AsyncEngine,
        encryptor: Encryptor,
        tokens: Tokens,
        caller_loaders: Mapping[str, CallerLoader] = CALLER_LOADERS,
    ) -> None:
        self.settings = settings
        self.engine = engine
        self.encryptor = encryptor
        self.tokens = tokens
        self.caller_loaders = caller_loaders  # by subject type
        self.keys_read_at = 0.0  # monotonic seconds
        self.requests_by_user = MovingWindowRateLimiter(MemoryStorage())
        self.login_failures = MovingWindowRateLimiter(MemoryStorage())
        self.run_job_now: RunJobNow = _run_no_job

    def within_rate(self, user_id: str) -> bool:
        """Counted per worker process; the limit is a setting, 0 switches it off."""
        limit = self.settings.rate_limit
        return not limit or self.requests_by_user.hit(RateLimitItemPerSecond(limit), user_id)

    async def sign_with(self, db: AsyncConnection, kid: str) -> None:
        """The key that signs now may have been rotated by another process.

        Asked over the connection at hand: whoever holds one and waits for another can wait for
        ever, when everybody does so in the moment of a rotation.
        """
        if not self.tokens.signs_with(kid):
            self.tokens = self.tokens.with_keys(await load_signing_keys(db, self.encryptor))

    async def sign_for(self, db: AsyncConnection, product: Product) -> None:
        """The same, where nothing has said yet which key that is."""
        await self.sign_with(db, await active_kid(db, product))

    async def look_for_new_keys(self) -> None:
        """Another process may have rotated the keys; asked at most once a second."""
        if time.monotonic() - self.keys_read_at < 1:
            return
        await self.read_keys()

    async def read_keys(self) -> None:
        self.keys_read_at = time.monotonic()
        async with self.engine.connect() as db:
            self.tokens = self.tokens.with_keys(await load_signing_keys(db, self.encryptor))


def issuers(settings: Settings) -> Mapping[Product, Issuer]:
    return {
        Product.core: Issuer(f"{settings.auth_url}/core", settings.core_token_seconds),
        Product.portal: Issuer(settings.auth_url, settings.portal_token_seconds),
    }


class RequestContext:
    """Opened by the gate, committed with the answer, closed at the door whatever happens."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.route = ""  # the path as declared, for logs and metrics
        self.methods = ""  # those the path knows, for OPTIONS alone
        self.caller: Caller | None = None
        self.db: AsyncConnection | None = None
        self.sent: Any = None  # the JSON body as read, for the audit row
        self.body: Any = None  # the same, checked
        self.idempotency: Any = None  # the key held for this request, see idempotency
        self.replayed = False  # the answer is an earlier one: no effect, no traces
        self.upload: Upload | None = None  # files that came with the request

    async def enter(self, resources: Resources, claims: Claims) -> Caller | None:
        """Begin the transaction and find the caller in it, in one question to the database."""
        try:
            return await self._begin(resources, claims)
        except DBAPIError as error:
            # connections from before a restart of the database: once more with a fresh one
            if not error.connection_invalidated:
                raise
            await self.close()
            return await self._begin(resources, claims)

    async def _begin(self, resources: Resources, claims: Claims) -> Caller | None:
        try:
            self.db = await resources.engine.connect()
        except Exception as error:
            if is_database_unavailable(error):
                raise unavailable() from error
            raise
        self.caller = await resources.caller_loaders[claims.subject_type](self.db, claims)
        return self.caller

    async def commit(self) -> None:
        """Where it fails or is interrupted, the connection stays ours for `close` to deal with."""
        if self.db is not None:
            await self.db.commit()
            # nothing is left to roll back, so that closing waits for nobody and needs no shield
            db, self.db = self.db, None
            await db.close()

    async def pause(self) -> None:
        """Commit what was done so far and hold no connection while something long goes on."""
        await self.commit()

    async def go_on(self, engine: AsyncEngine) -> AsyncConnection:
        """In a transaction of its own for what follows, the answer's traces among it."""
        assert self.caller is not None, "the gate let somebody in"
        self.db = await engine.connect()
        await set_tenant(self.db, self.caller.scope.organisation_id)
        return self.db

    async def close(self) -> None:
        """Roll back what was not committed; harmless when everything was."""
        if self.db is not None:
            db, self.db = self.db, None
            await _shielded(db.close())
        if self.upload is not None:
            self.upload.remove()

    async def receive(self, request: Request[Any, Any, Any], folder: Path) -> None:
        """Files that nobody takes over go when the request ends."""
        kind = request.headers.get("content-type", "")
        self.upload = await uploads.receive(kind, request.stream(), folder / self.request_id)


async def _shielded(closing: Any) -> None:
    """A client that hangs up must not leave a connection half returned to the pool."""
    await asyncio.shield(asyncio.ensure_future(closing))


def request_context_of(scope: Mapping[str, Any]) -> RequestContext:
    visit: RequestContext = scope[REQUEST_CONTEXT]
    return visit
