"""Queries and faults of a database superuser, who bypasses the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from nimbill.database.embedded_postgres import Address

_FAIL_AT_COMMIT = """
CREATE FUNCTION fail_at_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the proof makes this commit fail'; END $$;
CREATE CONSTRAINT TRIGGER fail_at_commit AFTER INSERT ON billing_groups
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.billinggroup_id LIKE 'fails-%') EXECUTE FUNCTION fail_at_commit();
"""

WILL_FAIL = "fails-"  # a billinggroup_id with this prefix fails at the commit


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Any]:
    db = await asyncpg.connect(
        host=address.host,
        port=address.port,
        user=address.user,
        password=address.password,
        database=address.database,
    )
    try:
        yield db
    finally:
        await db.close()


def rows(address: Address, query: str, *values: Any) -> list[Any]:
    """Run one query in its own transaction."""

    async def fetch() -> list[Any]:
        async with connected(address) as db:
            found: list[Any] = await db.fetch(query, *values)
            return found

    return asyncio.run(fetch())


@asynccontextmanager
async def failing_commits(superuser: Address) -> AsyncIterator[None]:
    """Inside the block, the commit of a group named WILL_FAIL fails."""
    async with connected(superuser) as db:
        await db.execute(_FAIL_AT_COMMIT)
        try:
            yield
        finally:
            await db.execute("DROP FUNCTION fail_at_commit CASCADE")
