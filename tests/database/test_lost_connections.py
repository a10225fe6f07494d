"""A connection that is lost while it is being prepared means that the database is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa

from nimbill.database import tenant_scope
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import create_app_engine, is_database_unavailable
from tests.running_service import Service
from tests.temporary_database import execute_sql

Lose = Callable[[Any, Address], Awaitable[None]]


async def close_here(connection: Any, _superuser: Address) -> None:
    connection.terminate()


async def end_on_the_server(connection: Any, superuser: Address) -> None:
    pid = connection.get_server_pid()
    await asyncio.to_thread(execute_sql, superuser, f"SELECT pg_terminate_backend({pid})")


async def reset_the_network(connection: Any, _superuser: Address) -> None:
    connection._transport.abort()


@pytest.mark.parametrize("lose", [close_here, end_on_the_server, reset_the_network])
def test_a_connection_lost_while_it_is_prepared_is_an_unavailable_database(
    lose: Lose, service: Service, superuser: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = tenant_scope._decode_numbers_exactly

    async def lose_and_prepare(connection: Any) -> None:
        await lose(connection, superuser)
        await prepare(connection)

    monkeypatch.setattr(tenant_scope, "_decode_numbers_exactly", lose_and_prepare)

    async def connect() -> None:
        engine = create_app_engine(service.settings.database_url or "")
        try:
            async with engine.connect() as db:
                await db.execute(sa.text("SELECT 1"))
        finally:
            await engine.dispose()

    with pytest.raises(Exception) as raised:  # of any class
        asyncio.run(connect())

    assert is_database_unavailable(raised.value), repr(raised.value)


def test_a_value_that_the_driver_cannot_encode_is_not_an_unavailable_database(
    service: Service,
) -> None:
    async def send_text_as_number() -> None:
        async with service.resources.engine.connect() as db:
            driver: Any = (await db.get_raw_connection()).driver_connection
            await driver.fetchval("SELECT $1::integer", "one")

    with pytest.raises(asyncpg.DataError, match="one") as raised:
        service.run(send_text_as_number)

    assert not is_database_unavailable(raised.value)
