"""Ends the connections of a worker when its database accepts requests but no longer answers.

A request waits for the reply to its statement. A slow statement and a database that has become
silent look the same to it, so that a watch asks the database over a connection of its own. If
that is not answered twice in a row, every connection is ended, also those that are being opened:
the waiting requests fail at once with 503, and new ones do so until the database answers again.
"""

import asyncio
import contextlib
import weakref
from typing import Any

import asyncpg
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import QueuePool

PAUSE_SECONDS = 0.5
PROBE_SECONDS_MAX = 1.25
# A worker that was busy receives the reply after the time-out, which needs a moment.
GRACE_SECONDS = 0.25
SILENT_PROBES = 2
SILENT = "The database does not answer."

log = structlog.get_logger()


class ConnectionWatch:
    def __init__(self, engine: AsyncEngine) -> None:
        self.is_silent = False
        self._engine = engine
        self._connections: weakref.WeakSet[Any] = weakref.WeakSet()
        self._opening: set[asyncio.Task[Any]] = set()
        self._probe: Any = None
        # First, because the listeners after it may already wait for replies.
        sa.event.listen(engine.sync_engine, "connect", self._remember, insert=True)
        sa.event.listen(engine.sync_engine, "do_connect", self._choose_how_to_open)

    async def run(self, stopping: asyncio.Event) -> None:
        """Ask while connections are in use, and until a silent database answers again."""
        silent_probes = 0
        while not stopping.is_set():
            if self.is_silent or silent_probes or self._is_in_use():
                silent_probes = 0 if await self._is_answered() else silent_probes + 1
                self._note(is_silent=silent_probes >= SILENT_PROBES)
            if not silent_probes:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), PAUSE_SECONDS)
        self._end_probe()

    def _is_in_use(self) -> bool:
        pool = self._engine.pool
        assert isinstance(pool, QueuePool)
        return pool.checkedout() > 0

    def _note(self, *, is_silent: bool) -> None:
        if is_silent != self.is_silent:
            log.warning("database_silent" if is_silent else "database_answers_again")
        self.is_silent = is_silent
        if is_silent:
            for connection in list(self._connections):
                connection.terminate()
            for opening in self._opening:
                opening.cancel()

    async def _is_answered(self) -> bool:
        """Whether the database replies. A refusal is a reply, too: it needs no watch."""
        asking = asyncio.create_task(self._ask())
        for seconds in (PROBE_SECONDS_MAX, GRACE_SECONDS):
            await asyncio.wait([asking], timeout=seconds)
        if asking.done():
            await asking
            return True
        asking.cancel()
        await asyncio.wait([asking])
        self._end_probe()
        return False

    async def _ask(self) -> None:
        try:
            if self._probe is None or self._probe.is_closed():
                self._probe = await self._connect()
            await self._probe.execute("SELECT 1")
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            self._end_probe()

    async def _connect(self) -> Any:
        _, parameters = self._engine.dialect.create_connect_args(self._engine.url)
        settings = {"application_name": "nimbill watch"}
        return await asyncpg.connect(**parameters, server_settings=settings)

    def _end_probe(self) -> None:
        if self._probe is not None:
            self._probe.terminate()
            self._probe = None

    def _remember(self, connection: Any, _record: object) -> None:
        self._connections.add(connection.driver_connection)

    def _choose_how_to_open(
        self, _dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]
    ) -> None:
        parameters["async_creator_fn"] = self._open_unless_silent

    async def _open_unless_silent(self, **parameters: Any) -> Any:
        if self.is_silent:
            raise ConnectionError(SILENT)
        opening = asyncio.ensure_future(asyncpg.connect(**parameters))
        self._opening.add(opening)
        try:
            return await opening
        except asyncio.CancelledError:
            if self.is_silent:
                raise ConnectionError(SILENT) from None
            raise
        finally:
            self._opening.discard(opening)
