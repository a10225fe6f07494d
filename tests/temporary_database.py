"""Temporary databases on the test server, and plain SQL on any database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

import asyncpg

from nimbill.database.embedded_postgres import Address
from nimbill.foundation.ids import new_id


@contextmanager
def temporary_database(owner: Address, superuser: Address) -> Iterator[Address]:
    """Create an empty database of the same owner; drop it at the end."""
    name = new_id("test")
    execute_sql(superuser, f"CREATE DATABASE {name} OWNER {owner.user}")
    try:
        yield replace(owner, database=name)
    finally:
        execute_sql(superuser, f"DROP DATABASE {name} WITH (FORCE)")


def execute_sql(address: Address, statement: str, *values: Any) -> list[Any]:
    """Execute and commit one statement; return its rows."""

    async def execute() -> list[Any]:
        async with connected(address) as db:
            rows: list[Any] = await db.fetch(statement, *values)
            return rows

    return asyncio.run(execute())


def execute_script(address: Address, statements: str) -> None:
    """Execute several statements in one transaction."""

    async def execute() -> None:
        async with connected(address) as db:
            await db.execute(statements)

    asyncio.run(execute())


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[asyncpg.Connection]:
    db = await connect(address)
    try:
        yield db
    finally:
        await db.close()


async def connect(address: Address) -> asyncpg.Connection:
    return await asyncpg.connect(
        host=address.host,
        port=address.port,
        user=address.user,
        password=address.password,
        database=address.database,
    )
