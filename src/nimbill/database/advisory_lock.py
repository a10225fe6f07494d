"""Locks in the database that belong to a name instead of a row."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection


async def advisory_lock(db: AsyncConnection, name: str | int, *, shared: bool = False) -> None:
    """Wait for the lock of this name and hold it until the transaction ends.

    It is a separate statement, so that the next one sees what the previous holder committed.
    Every release must use the same names: two of them run at the same time during an upgrade.
    """
    lock = sa.func.pg_advisory_xact_lock_shared if shared else sa.func.pg_advisory_xact_lock
    key = sa.func.hashtextextended(name, 0) if isinstance(name, str) else name
    await db.execute(sa.select(lock(key)))
