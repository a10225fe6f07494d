"""Connections of a database that no longer answers are ended, and lost peers are noticed."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.database import connection_watch
from nimbill.database.connection_watch import ConnectionWatch
from nimbill.database.embedded_postgres import Address, embedded_postgres
from nimbill.database.tenant_scope import create_app_engine, is_database_unavailable
from tests.proof.faulty_network import (
    FaultyNetwork,
    NetworkFault,
    faulty_network,
    require_packet_filters,
)
from tests.proof.row import NotPossibleHere
from tests.temporary_database import connected

SECONDS_MAX = 50  # a watchdog, shorter than the driver's own limit
SLEEP = "SELECT pg_sleep(25)::text"
SHORT_SLEEP = "SELECT pg_sleep(1)::text"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyNetwork]:
    folder: Path = tmp_path_factory.mktemp("watched")
    with embedded_postgres(folder / "postgres") as address:
        asyncio.run(_create_app_role(address))
        with faulty_network(address, seed=1) as between:
            yield between


@pytest.fixture
def packet_filters() -> None:
    try:
        require_packet_filters()
    except NotPossibleHere as reason:
        pytest.skip(str(reason))


async def _create_app_role(address: Address) -> None:
    async with connected(address) as db:
        await db.execute("CREATE ROLE nimbill_app NOLOGIN")
        await db.execute("GRANT nimbill_app TO CURRENT_USER")


@asynccontextmanager
async def watched(network: FaultyNetwork) -> AsyncIterator[tuple[AsyncEngine, ConnectionWatch]]:
    engine, stopping = create_app_engine(network.address.url, 2), asyncio.Event()
    watch = ConnectionWatch(engine)
    running = asyncio.create_task(watch.run(stopping))
    try:
        async with asyncio.timeout(SECONDS_MAX):
            yield engine, watch
    finally:
        network.end()
        stopping.set()
        await running
        await engine.dispose()


async def fails(work: Callable[[], Awaitable[object]]) -> bool:
    """Whether the work fails because the database is unavailable."""
    try:
        await work()
    except Exception as error:
        if is_database_unavailable(error):
            return True
        raise
    return False


async def select(engine: AsyncEngine, stmt: str = "SELECT 1") -> object:
    async with engine.connect() as db:
        return (await db.execute(sa.text(stmt))).scalar_one()


def test_a_waiting_statement_fails_when_the_database_becomes_silent(network: FaultyNetwork) -> None:
    async def stall() -> None:
        async with watched(network) as (engine, watch):
            await select(engine)
            waiting = asyncio.create_task(fails(lambda: select(engine, SLEEP)))
            await asyncio.sleep(0.1)
            network.begin(NetworkFault.stalled)
            assert await waiting
            assert watch.is_silent
            assert await fails(lambda: select(engine))
            network.end()
            while await fails(lambda: select(engine)):
                await asyncio.sleep(0.05)
            assert not watch.is_silent

    asyncio.run(stall())


def test_a_connection_being_opened_fails_when_the_database_is_silent(
    network: FaultyNetwork,
) -> None:
    """Without the watch it would wait for the driver's own limit, which is longer here."""

    def wait_longer(*arguments: Any) -> None:
        arguments[-1]["timeout"] = 2 * SECONDS_MAX

    async def stall() -> None:
        async with watched(network) as (engine, watch):
            sa.event.listen(engine.sync_engine, "do_connect", wait_longer)
            network.begin(NetworkFault.stalled)
            assert await fails(lambda: select(engine))
            assert watch.is_silent

    asyncio.run(stall())


def test_a_slow_statement_is_left_alone(
    network: FaultyNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_watch, "PAUSE_SECONDS", 0.05)

    async def wait() -> None:
        async with watched(network) as (engine, watch):
            await select(engine, SHORT_SLEEP)
            assert not watch.is_silent

    asyncio.run(wait())


def test_a_busy_worker_does_not_take_the_database_for_silent(
    network: FaultyNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replies arrive while the worker is busy, and are read only afterwards."""
    monkeypatch.setattr(connection_watch, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(connection_watch, "PROBE_SECONDS_MAX", 0.05)
    monkeypatch.setattr(connection_watch, "SILENT_PROBES", 1)

    async def block() -> None:
        async with watched(network) as (engine, watch):
            await select(engine)
            waiting = asyncio.create_task(select(engine, SHORT_SLEEP))
            while not waiting.done():
                await asyncio.sleep(0.005)
                time.sleep(0.1)  # longer than a probe may take
                assert not watch.is_silent

    asyncio.run(block())


@pytest.mark.usefixtures("packet_filters")
def test_a_connection_that_the_other_side_forgot_fails(network: FaultyNetwork) -> None:
    async def forget() -> None:
        async with watched(network) as (engine, watch):
            await select(engine)
            waiting = asyncio.create_task(fails(lambda: select(engine, SLEEP)))
            await asyncio.sleep(0.1)
            network.begin(NetworkFault.half_open)
            assert await waiting
            assert await select(engine) == 1
            assert not watch.is_silent

    asyncio.run(forget())


@pytest.mark.usefixtures("packet_filters")
def test_a_new_connection_that_the_other_side_forgot_fails(network: FaultyNetwork) -> None:
    """SQLAlchemy asks for the server's version and settings on the first connection."""

    async def forget() -> None:
        async with watched(network) as (engine, _):
            sa.event.listen(
                engine.sync_engine,
                "connect",
                lambda *_: network.begin(NetworkFault.half_open),
                insert=True,
                once=True,
            )
            assert await fails(lambda: select(engine))
            assert await select(engine) == 1

    asyncio.run(forget())


def test_a_starting_database_is_unavailable() -> None:
    """It accepts a connection, and then refuses it."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size, code = struct.unpack("!II", await reader.readexactly(8))
        if code == 80877103:  # asks for TLS
            writer.write(b"N")
            (size,) = struct.unpack("!I", await reader.readexactly(4))
            await reader.readexactly(size - 4)
        fields = b"SFATAL\0C57P03\0Mthe database system is starting up\0\0"
        writer.write(b"E" + struct.pack("!I", len(fields) + 4) + fields)
        writer.close()

    async def connect() -> bool:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            async with await asyncio.start_server(refuse, sock=listening):
                engine = create_app_engine(f"postgresql://somebody@127.0.0.1:{port}/nimbill")
                return await fails(lambda: select(engine))

    assert asyncio.run(connect())
