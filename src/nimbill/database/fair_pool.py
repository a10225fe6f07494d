"""A pool of database connections that serves waiting requests in the order of their arrival.

SQLAlchemy's own pool lets a new request take a returned connection before one that waits for it,
and does not wake a waiting request when a connection could not be opened. While the database is
away, a request could wait until its time-out and be refused although others were served.
"""

import asyncio
from typing import Any

from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import AsyncAdaptedQueuePool, ConnectionPoolEntry
from sqlalchemy.util import await_


class FairPool(AsyncAdaptedQueuePool):
    """Each borrowed connection takes one of as many turns as there may be connections."""

    def __init__(
        self, creator: Any, pool_size: int = 5, max_overflow: int = 10, **options: Any
    ) -> None:
        super().__init__(creator, pool_size, max_overflow, **options)
        self._turns = asyncio.Semaphore(pool_size + max_overflow)

    def _do_get(self) -> ConnectionPoolEntry:
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
