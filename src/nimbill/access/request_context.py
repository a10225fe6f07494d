"""The context of one request: id, caller, transaction; and the resources of a worker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access import uploads
from nimbill.access.caller import Caller
from nimbill.access.credentials import CallerLoader
from nimbill.access.extension_rights import ExtensionRights
from nimbill.access.hooks import Hooks
from nimbill.access.shared_rate_limit import SharedRateLimit
from nimbill.access.signing_keys import load_active_key_id, load_signing_keys
from nimbill.access.tokens import Claims, Tokens
from nimbill.access.uploads import Upload
from nimbill.database.tenant_scope import (
    database_unavailable,
    is_database_unavailable,
    set_tenant,
)
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.product import Product
from nimbill.foundation.settings import Settings
from nimbill.foundation.vendor_names import BILLED_VENDORS

if TYPE_CHECKING:
    from litestar import Request

REQUEST_CONTEXT = "nimbill.request_context"


def _open_request_rate(settings: Settings) -> SharedRateLimit | None:
    """The name of the file contains the limit, because the limit determines its layout."""
    limit = settings.rate_limit
    return SharedRateLimit(settings.data / f"request-rates-{limit}", limit) if limit else None


class Resources:
    """Objects that a worker process shares between requests."""

    def __init__(
        self,
        settings: Settings,
        engine: AsyncEngine,
        encryptor: Encryptor,
        tokens: Tokens,
        caller_loaders: Mapping[str, CallerLoader],
        extension_rights: Sequence[ExtensionRights],
        hooks: Hooks,
    ) -> None:
        self.settings = settings
        self.engine = engine
        self.encryptor = encryptor
        self.tokens = tokens
        self.caller_loaders = caller_loaders  # by subject type
        self.extension_rights = extension_rights
        self.hooks = hooks
        self.keys_loaded_at = 0.0  # monotonic seconds
        self._request_rate = _open_request_rate(settings)
        self.background_tasks: set[asyncio.Task[None]] = set()  # that no response waits for

    def is_within_rate_limit(self, user_id: str) -> bool:
        """Count a request of this user, in all workers of the machine; 0 disables the limit."""
        return self._request_rate is None or self._request_rate.allow(user_id)

    async def use_signing_key(self, db: AsyncConnection, kid: str) -> None:
        """Load the keys again if another process has rotated them.

        Uses the caller's connection: requests that hold one connection and wait for a second
        could deadlock the pool during a rotation.
        """
        if not self.tokens.is_signing_key(kid):
            self.tokens = self.tokens.with_keys(await load_signing_keys(db, self.encryptor))

    async def use_active_key(self, db: AsyncConnection, product: Product) -> None:
        """Load the keys again if the active key of this product is not known yet."""
        await self.use_signing_key(db, await load_active_key_id(db, product))

    async def reload_keys_if_stale(self) -> None:
        """Load the keys again, at most once per second, in case another process rotated them."""
        if time.monotonic() - self.keys_loaded_at < 1:
            return
        await self.reload_keys()

    async def reload_keys(self) -> None:
        self.keys_loaded_at = time.monotonic()
        async with self.engine.connect() as db:
            self.tokens = self.tokens.with_keys(await load_signing_keys(db, self.encryptor))


class RequestContext:
    """Opened by the gate, committed before the response, closed by the middleware."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.route = ""  # declared path, for logs and metrics
        self.methods = ""  # methods of the path, for OPTIONS only
        self.caller: Caller | None = None
        self.db: AsyncConnection | None = None
        self.sent: Any = None  # decoded body, for the audit row
        self.body: Any = None  # validated body
        self.idempotency: Any = None  # the reserved key, see nimbill.http.idempotency
        self.replayed = False  # the response is a stored one: no change, no audit row
        self.upload: Upload | None = None  # files of the request
        self.response_headers: dict[str, str] = {}  # that the handler adds
        self.vendors: Sequence[str] | None = None  # that the organisation bills, once loaded

    async def authenticate(self, resources: Resources, claims: Claims) -> Caller | None:
        """Begin the transaction and load the caller in it, in one round trip."""
        try:
            return await self._begin(resources, claims)
        except DBAPIError as error:
            # The pooled connection is older than a restart of the database: retry with a new one.
            if not error.connection_invalidated:
                raise
            await self.close()
            return await self._begin(resources, claims)

    async def _begin(self, resources: Resources, claims: Claims) -> Caller | None:
        try:
            self.db = await resources.engine.connect()
        except Exception as error:
            if is_database_unavailable(error):
                raise database_unavailable() from error
            raise
        self.caller = await resources.caller_loaders[claims.subject_type](self.db, claims)
        return self.caller

    async def load_vendors(self, resources: Resources, *, lock: bool) -> Sequence[str]:
        """Load the vendors that the caller's organisation bills, once per request."""
        if self.vendors is None and self.db is not None and self.caller is not None:
            self.vendors = await resources.hooks.load_vendors(self.db, self.caller.scope, lock)
        return BILLED_VENDORS if self.vendors is None else self.vendors

    async def commit(self) -> None:
        """If this fails or is cancelled, `close` still returns the connection."""
        if self.db is not None:
            await self.db.commit()
            # Nothing is left to roll back, so closing does not wait and needs no shield.
            db, self.db = self.db, None
            await db.close()

    async def pause(self) -> None:
        """Commit and return the connection to the pool during long work."""
        await self.commit()

    async def resume(self, engine: AsyncEngine) -> AsyncConnection:
        """Begin a new transaction for the rest of the request, including its audit row."""
        assert self.caller is not None, "the gate authenticates the caller"
        self.db = await engine.connect()
        await set_tenant(self.db, self.caller.scope.organisation_id)
        return self.db

    async def close(self) -> None:
        """Roll back what is not committed and remove files that were not moved."""
        if self.db is not None:
            db, self.db = self.db, None
            await _close_shielded(db.close())
        if self.upload is not None:
            self.upload.remove()

    async def receive_upload(
        self, request: Request[Any, Any, Any], folder: Path, *, reserve_mib: int
    ) -> None:
        """Stream the files to disk; `close` removes those that were not moved."""
        announced = request.headers.get("content-length", "")
        self.upload = await uploads.receive_upload(
            request.headers.get("content-type", ""),
            request.stream(),
            folder / self.request_id,
            announced_bytes=int(announced) if announced.isascii() and announced.isdigit() else 0,
            reserve_mib=reserve_mib,
        )


async def _close_shielded(close: Any) -> None:
    """A client that disconnects must not interrupt the return of a connection to the pool."""
    await asyncio.shield(asyncio.ensure_future(close))


def get_request_context(scope: Mapping[str, Any]) -> RequestContext:
    context: RequestContext = scope[REQUEST_CONTEXT]
    return context
