"""Requests that wait for a database connection are served in the order of their arrival."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.database import fair_pool
from nimbill.database.fair_pool import FairPool
from nimbill.database.tenant_scope import create_app_engine
from tests.running_service import Service

CONNECTIONS = 2  # one that the pool keeps, and one more under load
SECONDS_MAX = 120  # a watchdog


@asynccontextmanager
async def pooled(url: str) -> AsyncIterator[AsyncEngine]:
    engine = create_app_engine(url, pool_size=CONNECTIONS // 2)
    try:
        async with asyncio.timeout(SECONDS_MAX):
            yield engine
    finally:
        await engine.dispose()


async def fill(engine: AsyncEngine) -> list[Any]:
    return [await engine.connect() for _ in range(CONNECTIONS)]


async def let_others_run() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def run(running: Service, work: Callable[[AsyncEngine], Awaitable[None]]) -> None:
    async def within_engine() -> None:
        async with pooled(running.database_url) as engine:
            assert isinstance(engine.pool, FairPool)
            await work(engine)

    asyncio.run(within_engine())


def test_a_new_request_does_not_overtake_a_waiting_one(running: Service) -> None:
    async def compete(engine: AsyncEngine) -> None:
        served = []

        async def use(name: str) -> None:
            async with engine.connect():
                served.append(name)

        returned, kept = await fill(engine)
        names = [f"waiting {number}" for number in range(5)]
        waiting = [asyncio.create_task(use(name)) for name in names]
        await let_others_run()
        waiting.append(asyncio.create_task(returned.close()))
        while len(served) < len(names):  # new requests arrive while the connection is returned
            waiting.append(asyncio.create_task(use("late")))
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)

        await kept.close()

        assert served[: len(names)] == names

    run(running, compete)


def test_a_waiting_request_has_its_turn_when_a_connection_could_not_be_opened(
    running: Service,
) -> None:
    async def fail_to_open(engine: AsyncEngine) -> None:
        connection = await engine.connect()
        failed = asyncio.Event()

        async def open_in_vain(**_: object) -> None:
            await failed.wait()
            raise ConnectionRefusedError

        @sa.event.listens_for(engine.sync_engine, "do_connect")
        def choose(*arguments: Any) -> None:
            arguments[-1]["async_creator_fn"] = open_in_vain

        opening, waiting = (asyncio.create_task(engine.connect().start()) for _ in range(2))
        await let_others_run()
        failed.set()
        async with asyncio.timeout(fair_pool.TURN_SECONDS_MAX / 2):
            refused = await asyncio.gather(opening, waiting, return_exceptions=True)
        await connection.close()

        assert [type(error) for error in refused] == [ConnectionRefusedError] * 2

    run(running, fail_to_open)


def test_a_request_that_has_waited_has_less_time_to_open_its_connection(
    running: Service,
) -> None:
    async def wait_first(engine: AsyncEngine) -> None:
        seconds: list[float] = []
        sa.event.listen(
            engine.sync_engine,
            "do_connect",
            lambda *arguments: seconds.append(arguments[-1]["timeout"]),
        )
        connections = await fill(engine)
        waiting = asyncio.create_task(engine.connect().start())
        await asyncio.sleep(0.5)
        for connection in connections:
            await connection.invalidate()
            await connection.close()
        await (await waiting).close()

        *first, waited = seconds
        assert all(waited < each <= fair_pool.SECONDS_MAX for each in first)
        assert 0 < waited <= fair_pool.SECONDS_MAX - 0.5

    run(running, wait_first)


def test_a_request_that_gives_up_leaves_its_turn_to_the_next(running: Service) -> None:
    async def give_up(engine: AsyncEngine) -> None:
        connections = await fill(engine)
        first, second = (asyncio.create_task(engine.connect().start()) for _ in range(2))
        await let_others_run()
        first.cancel()
        await let_others_run()

        for connection in connections:
            await connection.close()
        await (await second).close()
        again = await fill(engine)

        assert first.cancelled()
        for connection in again:
            await connection.close()

    run(running, give_up)


def test_a_request_is_refused_when_no_connection_becomes_free(
    running: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait_in_vain(engine: AsyncEngine) -> None:
        monkeypatch.setattr(engine.pool, "_timeout", 0.05)
        connections = await fill(engine)

        with pytest.raises(PoolTimeout, match=r"No connection was free within 0\.05 s\."):
            await engine.connect()

        for connection in connections:
            await connection.close()
        again = await fill(engine)
        for connection in again:
            await connection.close()

    run(running, wait_in_vain)
