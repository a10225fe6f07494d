"""A pool of database connections that serves waiting requests in the order of their arrival.

SQLAlchemy's own pool lets a new request take a returned connection before one that waits for it,
and does not wake a waiting request when a connection could not be opened. While the database is
away, a request could wait until its time-out and be refused although others were served.
"""

import asyncio
import time
from contextvars import ContextVar
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry
from sqlalchemy.util import await_

TURN_SECONDS_MAX = 4
# For the turn and the connection together, so that a request fails before its client gives up.
SECONDS_MAX = 4.5

_deadline: ContextVar[float] = ContextVar("deadline of the connection that a request waits for")


class FairPool(AsyncAdaptedQueuePool):
    """Each borrowed connection takes one of as many turns as there may be connections."""

    def __init__(
        self, creator: Any, pool_size: int = 5, max_overflow: int = 10, **options: Any
    ) -> None:
        super().__init__(creator, pool_size, max_overflow, **options)
        self._turns = asyncio.Semaphore(pool_size + max_overflow)

    def _do_get(self) -> ConnectionPoolEntry:
        _deadline.set(time.monotonic() + SECONDS_MAX)
        await_(self._wait_for_turn())
        try:
            return super()._do_get()
        except BaseException:
            self._turns.release()
            raise

    async def _wait_for_turn(self) -> None:
        if not self._turns.locked():
            await self._turns.acquire()
            return
        try:
            async with asyncio.timeout(self.timeout()):
                await self._turns.acquire()
        except TimeoutError as error:
            raise PoolTimeout(f"No connection was free within {self.timeout():g} s.") from error

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        try:
            super()._do_return_conn(record)
        finally:
            self._turns.release()


def limit_opening(engine: AsyncEngine) -> None:
    """Open a connection in the time that waiting for the turn has left."""

    @sa.event.listens_for(engine.sync_engine, "do_connect")
    def set_timeout(
        _dialect: object, _record: object, _arguments: object, parameters: dict[str, Any]
    ) -> None:
        parameters["timeout"] = _deadline.get() - time.monotonic()
