"""A database of a test's own on the server of the run, and plain SQL on any of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import asyncpg

from nimbill.database.embedded_postgres import Address
from nimbill.foundation.ids import new_id


@contextmanager
def own_database(owner: Address, superuser: Address) -> Iterator[Address]:
    """A new, empty database of the same owner; dropped at the end."""
    name = new_id("test")
    sql(superuser, f"CREATE DATABASE {name} OWNER {owner.user}")
    try:
        yield replace(owner, database=name)
    finally:
        sql(superuser, f"DROP DATABASE {name} WITH (FORCE)")


def sql(address: Address, statement: str, *values: Any) -> list[Any]:
    """The rows of one statement, run and committed by itself."""
    rows: list[Any] = asyncio.run(_on(address, lambda db: db.fetch(statement, *values)))
    return rows


def sql_script(address: Address, statements: str) -> None:
    """Several statements on one connection, all or nothing."""
    asyncio.run(_on(address, lambda db: db.execute(statements)))


async def _on(address: Address, do: Callable[[Any], Awaitable[Any]]) -> Any:
    db = await asyncpg.connect(
        host=address.host,
        port=address.port,
        user=address.user,
        password=address.password,
        database=address.database,
    )
    try:
        return await do(db)
    finally:
        await db.close()
