"""Migrations of a database in use: requests pass a migration that waits for a table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from nimbill.application.schema import MIGRATIONS
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import MigrationError, MigrationPackage, migrate
from tests.database.schema_catalogue import describe_schema, drop_schema, is_current
from tests.temporary_database import connected, execute_sql

LATER = MigrationPackage("tests.database.later_migrations", "alembic_version_later")
ALL = (*MIGRATIONS, LATER)
SECONDS_MAX = 60  # only reached if the migration neither waits nor ends
IS_MIGRATION_WAITING = (
    "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted "
    "AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nimbill.database.migrate.LOCK_TIMEOUT", "200ms")
    monkeypatch.setattr("nimbill.database.migrate.LOCK_PAUSE_SECONDS", 0.1)


@pytest.fixture
def current_database(empty_database: Address) -> Address:
    asyncio.run(migrate(empty_database.url, MIGRATIONS))
    return empty_database


@asynccontextmanager
async def read_table(address: Address, table: str) -> AsyncIterator[Any]:
    """A transaction that has read the table and has not ended."""
    async with connected(address) as db, db.transaction():
        await db.fetch(f"SELECT FROM {table}")
        yield db


async def wait_until_waiting(db: Any) -> None:
    async with asyncio.timeout(SECONDS_MAX):
        while not await db.fetchval(IS_MIGRATION_WAITING):
            await asyncio.sleep(0.01)


def read_revision(address: Address) -> str:
    (row,) = execute_sql(address, f"SELECT version_num FROM {LATER.version_table}")
    return str(row["version_num"])


def test_a_request_passes_a_migration_that_waits_for_its_table(current_database: Address) -> None:
    async def read_while_waiting() -> None:
        async with read_table(current_database, "billing_groups") as holder:
            migration = asyncio.create_task(migrate(current_database.url, ALL))
            await wait_until_waiting(holder)
            async with connected(current_database) as reader, asyncio.timeout(SECONDS_MAX):
                await reader.fetch("SELECT FROM billing_groups")
            assert not migration.done()
        await migration

    asyncio.run(read_while_waiting())

    assert is_current(current_database, ALL)


def test_a_request_for_two_migrated_tables_is_not_ended_as_a_deadlock(
    current_database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request waits for one table behind the migration, and keeps the other one from it."""
    monkeypatch.setattr("nimbill.database.migrate.LOCK_TIMEOUT", "2s")

    async def read_both() -> None:
        async with read_table(current_database, "cost_sums") as request:
            async with read_table(current_database, "billing_groups") as holder:
                migration = asyncio.create_task(migrate(current_database.url, ALL))
                await wait_until_waiting(holder)
                second_read = asyncio.create_task(request.fetch("SELECT FROM billing_groups"))
                await asyncio.sleep(0.1)  # until it waits, too
            await second_read
        await migration

    asyncio.run(read_both())

    assert is_current(current_database, ALL)


def test_each_revision_has_its_own_transaction(current_database: Address) -> None:
    """An index that is created concurrently waits for older snapshots, other changes do not."""

    async def migrate_beside_snapshot() -> str:
        async with (
            connected(current_database) as holder,
            holder.transaction(isolation="repeatable_read"),
        ):
            await holder.fetch("SELECT FROM projects")
            migration = asyncio.create_task(migrate(current_database.url, ALL))
            await wait_until_waiting(holder)
            revision = await asyncio.to_thread(read_revision, current_database)
        await migration
        return revision

    assert asyncio.run(migrate_beside_snapshot()) == "0003"
    assert read_revision(current_database) == "0004"


def test_a_table_that_stays_locked_ends_the_migration_with_one_sentence(
    current_database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.database.migrate.LOCK_ATTEMPTS_MAX", 2)
    schema = describe_schema(current_database)

    async def migrate_while_locked() -> None:
        async with read_table(current_database, "cost_sums"):
            await migrate(current_database.url, ALL)

    with pytest.raises(MigrationError, match="in 2 attempts, another transaction kept a table"):
        asyncio.run(migrate_while_locked())

    drop_schema(current_database, (LATER,))
    execute_sql(current_database, f"DROP TABLE {LATER.version_table}")
    assert describe_schema(current_database) == schema


def test_a_concurrent_index_does_not_wait_for_other_programs_that_start(
    current_database: Address,
) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: asyncio.run(migrate(current_database.url, ALL)), range(4)))

    assert is_current(current_database, ALL)


def test_later_migrations_can_be_undone_and_repeated(current_database: Address) -> None:
    asyncio.run(migrate(current_database.url, ALL))
    schema = describe_schema(current_database)

    drop_schema(current_database, (LATER,))
    assert not is_current(current_database, ALL)
    asyncio.run(migrate(current_database.url, ALL))

    assert describe_schema(current_database) == schema
