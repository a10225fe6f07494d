"""Sums by the hundred thousand into their table: copied beside it, then moved over in the database.

COPY does not know row-level security, so that rows go through a table of the transaction's own. The
text it takes is written by Arrow in a thread: the event loop only passes it on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 50_000  # each step stays far below the time a statement may take
CHUNK_BYTES = 256 * 1024
BESIDE = "copied_sums"


async def copy_sums(
    db: AsyncConnection,
    table: sa.Table,
    whose: Mapping[str, str],
    batches: Iterable[pa.RecordBatch],
) -> None:
    """`whose` are the columns that are the same in every row; the batches hold all others."""
    own = [column for column in table.c if column.name not in whose]
    beside = sa.table(BESIDE, *(sa.column(column.name) for column in own))
    fixed = [sa.literal(value) for value in whose.values()]
    names = [*whose, *(column.name for column in own)]
    moving = sa.insert(table).from_select(names, sa.select(*fixed, *beside.c))
    types = ", ".join(f"{column.name} {column.type.compile(db.dialect)}" for column in own)
    await db.execute(sa.text(f"CREATE TEMPORARY TABLE {BESIDE} ({types}) ON COMMIT DROP"))
    driver: Any = (await db.get_raw_connection()).driver_connection
    texts = _texts([column.name for column in own], batches)
    while (text := await asyncio.to_thread(next, texts, None)) is not None:
        await driver.copy_to_table(
            BESIDE, source=_chunks(text), columns=[column.name for column in own], format="csv"
        )
        await db.execute(moving)
        await db.execute(sa.text(f"TRUNCATE {BESIDE}"))
    await db.execute(sa.text(f"DROP TABLE {BESIDE}"))


def _texts(names: list[str], batches: Iterable[pa.RecordBatch]) -> Iterator[memoryview]:
    """As CSV, so many rows at a time."""
    import pyarrow as pa
    from pyarrow import csv

    for batch in batches:
        for start in range(0, len(batch), ROWS_AT_ONCE):
            text = pa.BufferOutputStream()
            rows = batch.slice(start, ROWS_AT_ONCE).select(names)
            csv.write_csv(rows, text, csv.WriteOptions(include_header=False))
            yield memoryview(text.getvalue())


async def _chunks(text: memoryview) -> AsyncIterator[bytes]:
    for start in range(0, len(text), CHUNK_BYTES):
        yield bytes(text[start : start + CHUNK_BYTES])
        await asyncio.sleep(0)  # whoever waits for an answer goes first
