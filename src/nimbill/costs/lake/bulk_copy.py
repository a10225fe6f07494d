"""Copies large numbers of sums into their table.

COPY does not work with row-level security, so that rows are copied into a temporary table and
inserted from there. Arrow formats the CSV text in a thread; the event loop only passes it on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.schema import CreateTable, DropTable

from nimbill.database.tenant_scope import ddl

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_STATEMENT = 50_000  # keeps each statement far below the statement timeout
CHUNK_BYTES = 256 * 1024
STAGING_TABLE = "copied_sums"


async def copy_sums(
    db: AsyncConnection,
    table: sa.Table,
    constants: Mapping[str, str],
    batches: Iterable[pa.RecordBatch],
) -> None:
    """`constants` are columns with the same value in every row; batches contain the others."""
    columns = [column for column in table.c if column.name not in constants]
    column_names = [column.name for column in columns]
    staging = sa.Table(
        STAGING_TABLE,
        sa.MetaData(),
        *(sa.Column(column.name, column.type) for column in columns),
        prefixes=["TEMPORARY"],
        postgresql_on_commit="DROP",
    )
    literals = [sa.literal(value) for value in constants.values()]
    insert_stmt = sa.insert(table).from_select(
        [*constants, *column_names], sa.select(*literals, *staging.c)
    )
    await db.execute(CreateTable(staging))
    driver: Any = (await db.get_raw_connection()).driver_connection
    texts = _format_csv(column_names, batches)
    while (text := await asyncio.to_thread(next, texts, None)) is not None:
        await driver.copy_to_table(
            STAGING_TABLE, source=_split_into_chunks(text), columns=column_names, format="csv"
        )
        await db.execute(insert_stmt)
        await db.execute(ddl(f"TRUNCATE {STAGING_TABLE}"))
    await db.execute(DropTable(staging))


def _format_csv(names: list[str], batches: Iterable[pa.RecordBatch]) -> Iterator[memoryview]:
    import pyarrow as pa
    from pyarrow import csv

    for batch in batches:
        for start in range(0, len(batch), ROWS_PER_STATEMENT):
            text = pa.BufferOutputStream()
            rows = batch.slice(start, ROWS_PER_STATEMENT).select(names)
            csv.write_csv(rows, text, csv.WriteOptions(include_header=False))
            yield memoryview(text.getvalue())


async def _split_into_chunks(text: memoryview) -> AsyncIterator[bytes]:
    for start in range(0, len(text), CHUNK_BYTES):
        yield bytes(text[start : start + CHUNK_BYTES])
        await asyncio.sleep(0)  # lets requests of the same process run in between
