"""What a superuser may do to the database under the service: look at everything, let it fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from nimbill.database.embedded_postgres import Address

_FAIL_AT_COMMIT = """
CREATE FUNCTION fail_at_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the proof lets this commit fail'; END $$;
CREATE CONSTRAINT TRIGGER fail_at_commit AFTER INSERT ON billing_groups
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.billinggroup_id LIKE 'fails-%') EXECUTE FUNCTION fail_at_commit();
"""

WILL_FAIL = "fails-"  # a billinggroup_id that starts so fails at the very commit


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


def rows(address: Address, question: str, *values: Any) -> list[Any]:
    """The answer to one question, asked and committed by itself."""

    async def ask() -> list[Any]:
        async with connected(address) as db:
            found: list[Any] = await db.fetch(question, *values)
            return found

    return asyncio.run(ask())


@asynccontextmanager
async def failing_commits(superuser: Address) -> AsyncIterator[None]:
    """Inside, the database gives up at the commit of what is named WILL_FAIL."""
    async with connected(superuser) as db:
        await db.execute(_FAIL_AT_COMMIT)
        try:
            yield
        finally:
            await db.execute("DROP FUNCTION fail_at_commit CASCADE")
