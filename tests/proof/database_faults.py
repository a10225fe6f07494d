"""Faults that a database superuser causes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nimbill.database.embedded_postgres import Address
from tests.temporary_database import connected

_FAIL_AT_COMMIT = """
CREATE FUNCTION fail_at_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the proof makes this commit fail'; END $$;
CREATE CONSTRAINT TRIGGER fail_at_commit AFTER INSERT ON billing_groups
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.billinggroup_id LIKE 'fails-%') EXECUTE FUNCTION fail_at_commit();
"""

WILL_FAIL = "fails-"  # a billinggroup_id with this prefix fails at the commit


@asynccontextmanager
async def failing_commits(superuser: Address) -> AsyncIterator[None]:
    """Inside the block, the commit of a group named WILL_FAIL fails."""
    async with connected(superuser) as db:
        await db.execute(_FAIL_AT_COMMIT)
        try:
            yield
        finally:
            await db.execute("DROP FUNCTION fail_at_commit CASCADE")
