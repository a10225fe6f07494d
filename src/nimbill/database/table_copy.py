"""Copies the rows of all tables into files, and from such files into an empty database.

The rows are read by the database's owner. Row-level security also applies to the owner, so that the
rows of one organisation after the other are read, all in the same snapshot. No superuser and no
program of PostgreSQL is needed, and the files can be loaded into any supported version of it.
"""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from asyncpg import PostgresError
from sqlalchemy.exc import DBAPIError

from nimbill.database.migrate import MigrationPackage
from nimbill.database.tenant_scope import create_owner_engine
from nimbill.foundation.errors import OperatorError

FILE_SUFFIX = ".copy.gz"
COMPRESSION_LEVEL = 1  # the files are large, and better compression is much slower

_TABLES = """
    SELECT c.relname AS name, c.relforcerowsecurity AS forced, ARRAY(
        SELECT a.attname::text FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        ORDER BY a.attnum
    ) AS columns
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    ORDER BY c.relname
"""
_FOREIGN_KEYS = """
    SELECT child.relname AS child, parent.relname AS parent FROM pg_constraint k
    JOIN pg_class child ON child.oid = k.conrelid JOIN pg_class parent ON parent.oid = k.confrelid
    WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conrelid <> k.confrelid
"""
# The owner reads these two tables across organisations; see row_security.py.
_ORGANISATIONS = """
    SELECT organisation_id FROM tenant_lookups UNION SELECT organisation_id FROM jobs ORDER BY 1
"""
_SET_TENANT = "SELECT set_config('nimbill.organisation', $1, true)"


class TableCopyError(OperatorError):
    """The rows cannot be read or do not fit the database; the message says why."""


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table's file: its columns in order, and its number of rows."""

    columns: Sequence[str]
    rows: int


@asynccontextmanager
async def open_snapshot(url: str) -> AsyncIterator[Any]:
    """Yield a driver's connection in a read-only transaction that sees one state of all tables."""
    engine = create_owner_engine(url)
    try:
        async with engine.connect() as db:
            driver: Any = (await db.get_raw_connection()).driver_connection
            async with driver.transaction(isolation="repeatable_read", readonly=True):
                yield driver
    except (DBAPIError, PostgresError) as error:
        raise TableCopyError(f"The database cannot be read ({type(error).__name__}).") from error
    finally:
        await engine.dispose()


async def read_revisions(driver: Any, packages: Sequence[MigrationPackage]) -> dict[str, str]:
    """Return the revision of each migration package by its version table; none if it has none."""
    revisions = {}
    for table in (package.version_table for package in packages):
        if await driver.fetchval("SELECT to_regclass($1) IS NOT NULL", f"public.{table}"):
            revision = await driver.fetchval(f"SELECT version_num FROM {table}")  # noqa: S608
            if revision is not None:
                revisions[table] = revision
    return revisions


async def list_organisation_ids(driver: Any) -> list[str]:
    return [row["organisation_id"] for row in await driver.fetch(_ORGANISATIONS)]


async def fetch_of_organisation(driver: Any, organisation_id: str, stmt: str) -> list[Any]:
    """Fetch rows of one organisation; the statement's parameter $1 is its id."""
    await driver.execute(_SET_TENANT, organisation_id)
    rows: list[Any] = await driver.fetch(stmt, organisation_id)
    return rows


async def dump_tables(
    driver: Any, folder: Path, organisation_ids: Sequence[str], *, leave_out: Collection[str]
) -> dict[str, CopiedTable]:
    """Write one file per table into the folder.

    Counters of logins to organisations that do not exist are left out; they expire within minutes.
    """
    copied = {}
    for table in await driver.fetch(_TABLES):
        name, columns = table["name"], table["columns"]
        if name in leave_out:
            continue
        query = f"SELECT {', '.join(map(_quote, columns))} FROM {_quote(name)}"  # noqa: S608
        rows = 0
        with gzip.open(folder / f"{name}{FILE_SUFFIX}", "wb", COMPRESSION_LEVEL) as file:
            if "organisation_id" not in columns:
                rows = _count_rows(await driver.copy_from_query(query, output=file))
            else:
                query += " WHERE organisation_id = $1"
                for organisation_id in organisation_ids:
                    await driver.execute(_SET_TENANT, organisation_id)
                    status = await driver.copy_from_query(query, organisation_id, output=file)
                    rows += _count_rows(status)
        copied[name] = CopiedTable(columns, rows)
    return copied


async def load_tables(driver: Any, folder: Path, copied: Mapping[str, CopiedTable]) -> None:
    """Load the files into empty tables, parents first, in the caller's transaction.

    COPY does not work with row-level security, so that it does not apply to the owner meanwhile.
    """
    tables = {table["name"]: table for table in await driver.fetch(_TABLES)}
    unknown = sorted(copied.keys() - tables.keys())
    if unknown:
        raise TableCopyError(f"This version of Nimbill has no table {unknown[0]}.")
    forced = [_quote(name) for name, table in tables.items() if table["forced"]]
    for table in forced:
        await driver.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    for name in await _list_parents_first(driver, tables):
        if name in copied:
            await _load_table(driver, name, copied[name], folder / f"{name}{FILE_SUFFIX}")
    for table in forced:
        await driver.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


async def _load_table(driver: Any, name: str, table: CopiedTable, path: Path) -> None:
    with gzip.open(path, "rb") as file:
        status = await driver.copy_to_table(name, source=file, columns=table.columns)
    if _count_rows(status) != table.rows:
        raise TableCopyError(f"{path} does not contain the {table.rows} rows of its manifest.")


async def _list_parents_first(driver: Any, tables: Collection[str]) -> list[str]:
    sorter = TopologicalSorter({name: set[str]() for name in tables})
    for key in await driver.fetch(_FOREIGN_KEYS):
        sorter.add(key["child"], key["parent"])
    return list(sorter.static_order())


def _count_rows(status: str) -> int:
    """The number in a command tag such as `COPY 12`."""
    return int(status.rpartition(" ")[2])


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
