"""Holds locks in one transaction while a call runs in a thread, and sees whether the call waits.

The tests do not depend on time: the database tells who waits for whom.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, transaction
from tests.running_service import Service

T = TypeVar("T")

InTransaction = Callable[[AsyncConnection, TenantScope], Awaitable[Any]]

SECONDS_MAX = 60  # only reached if the call neither waits nor ends
IS_SOMEBODY_WAITING = sa.text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted"
    " AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    waited: bool  # for the locks, until their transaction ended
    result: T


def call_while_locked(
    service: Service,
    take_locks: InTransaction,
    call: Callable[[], T],
    *,
    change: InTransaction | None = None,
) -> Outcome[T]:
    """Start `call` under these locks; as soon as it waits or ends, run `change` and commit."""
    scope = TenantScope(service.organisation.organisation_id)

    async def hold() -> Outcome[T]:
        thread = ThreadPoolExecutor(1)
        try:
            async with transaction(service.resources.engine, scope.organisation_id) as db:
                await take_locks(db, scope)
                future = thread.submit(call)
                waited = await wait_until_blocked(db, future)
                if change is not None:
                    await change(db, scope)
            return Outcome(waited, await asyncio.wrap_future(future))
        finally:
            thread.shutdown(wait=False)  # waiting would stop the loop that the call needs

    return service.run(hold)


async def wait_until_blocked(db: AsyncConnection, future: Future[Any] | asyncio.Task[Any]) -> bool:
    """Wait until somebody waits for a lock of this transaction, or until the future is done."""
    deadline = time.monotonic() + SECONDS_MAX
    while not future.done():
        if (await db.execute(IS_SOMEBODY_WAITING)).scalar_one():
            return True
        assert time.monotonic() < deadline, "the call neither waits nor ends"
        await asyncio.sleep(0.01)
    return False


def in_transaction(service: Service, function: InTransaction) -> Callable[[], Any]:
    """A call that runs this function in a transaction of its own."""
    scope = TenantScope(service.organisation.organisation_id)

    async def run() -> Any:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            return await function(db, scope)

    return lambda: service.run(run)
