"""A canonical SHA-256 of each table: its rows as text, in the order of the primary key."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from nimbill.database.embedded_postgres import Address
from tests.temporary_database import connected

TABLES = """
    SELECT c.relname AS name, coalesce((
        SELECT string_agg(format('t.%I', a.attname), ', ' ORDER BY k.place)
        FROM pg_index i CROSS JOIN unnest(i.indkey::int[]) WITH ORDINALITY k (column_number, place)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.column_number
        WHERE i.indrelid = c.oid AND i.indisprimary
    ), 't.*') AS key
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1
"""
DIGEST = """
    SELECT count(*) || ' rows, ' || encode(sha256(convert_to(
        coalesce(string_agg(t::text, E'\\n' ORDER BY ROW({key})::text COLLATE "C"), ''), 'UTF8'
    )), 'hex') FROM {name} t {condition}
"""


def digest_tables(address: Address, *, written: Collection[str], writer: str) -> dict[str, str]:
    """Leave out the rows that the organisation `writer` has in the tables `written`."""
    return asyncio.run(_digest_tables(address, written, writer))


async def _digest_tables(address: Address, written: Collection[str], writer: str) -> dict[str, str]:
    async with connected(address) as db, db.transaction(isolation="repeatable_read"):
        await db.execute("SET LOCAL timezone = 'UTC'")
        return {
            name: await _digest(db, name, key, writer if name in written else None)
            for name, key in await db.fetch(TABLES)
        }


async def _digest(db: Any, name: str, key: str, writer: str | None) -> str:
    condition = "" if writer is None else "WHERE t.organisation_id <> $1"
    query = DIGEST.format(name=name, key=key, condition=condition)
    digest: str = await db.fetchval(query, *([] if writer is None else [writer]))
    return digest
