"""A database is brought up to date once, however many ask, and can be taken down again."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from nimbill.application.schema import metadata
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import MigrationError, current_and_newest, migrate
from nimbill.database.tenant_scope import owner_engine
from tests.own_database import sql

FROM_FUNCTIONS = "FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
FROM_CONSTRAINTS = "FROM pg_constraint c WHERE connamespace = 'public'::regnamespace"


def tables(address: Address) -> set[str]:
    question = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    return {row["tablename"] for row in sql(address, question)}


def functions(address: Address) -> set[str]:
    return {row["proname"] for row in sql(address, f"SELECT proname {FROM_FUNCTIONS}")}


def shape(address: Address) -> list[tuple[object, ...]]:
    """Every column, index and policy: what two databases of one version share."""
    columns = "table_name, column_name, data_type, is_nullable, column_default"
    questions = (
        f"SELECT {columns} FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT tablename, policyname, qual, with_check FROM pg_policies",
        f"SELECT conname, pg_get_constraintdef(c.oid) {FROM_CONSTRAINTS}",
    )
    return sorted(
        (tuple(row) for question in questions for row in sql(address, question)), key=repr
    )


def up(address: Address) -> None:
    asyncio.run(migrate(address.url))


def down(address: Address) -> None:
    asyncio.run(migrate(address.url, "base"))


def versions(address: Address) -> tuple[str | None, str | None]:
    async def ask() -> tuple[str | None, str | None]:
        engine = owner_engine(address.url)
        async with engine.connect() as db:
            found = await db.run_sync(current_and_newest)
        await engine.dispose()
        return found

    return asyncio.run(ask())


def test_an_empty_database_gets_every_table(empty_database: Address) -> None:
    assert versions(empty_database)[0] is None

    up(empty_database)

    assert tables(empty_database) == {*metadata.tables, "alembic_version"}
    current, newest = versions(empty_database)
    assert current == newest is not None


def test_up_down_and_up_again_gives_the_same_database(empty_database: Address) -> None:
    up(empty_database)
    first = shape(empty_database)

    down(empty_database)
    assert tables(empty_database) == {"alembic_version"}
    assert functions(empty_database) == set()
    assert versions(empty_database)[0] is None

    up(empty_database)
    assert shape(empty_database) == first


def test_a_database_that_is_up_to_date_is_left_alone(empty_database: Address) -> None:
    up(empty_database)
    first = shape(empty_database)
    sql(empty_database, "INSERT INTO signing_keys VALUES ('k', 'core', 'next', '', '')")

    up(empty_database)

    assert shape(empty_database) == first
    assert len(sql(empty_database, "SELECT * FROM signing_keys")) == 1


def test_of_several_that_try_at_once_all_succeed(empty_database: Address) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(up, [empty_database] * 4))

    current, newest = versions(empty_database)
    assert current == newest
    assert len(sql(empty_database, "SELECT * FROM alembic_version")) == 1


def test_a_migration_that_fails_leaves_the_database_as_it_was(empty_database: Address) -> None:
    sql(empty_database, "CREATE TABLE invoice_settings (a int)")  # in the way of a later step

    with pytest.raises(MigrationError, match="already exists"):
        up(empty_database)

    assert tables(empty_database) == {"invoice_settings"}
    sql(empty_database, "DROP TABLE invoice_settings")
    up(empty_database)
    assert "invoice_settings" in tables(empty_database)


def test_a_database_that_is_not_there_is_said_in_one_sentence(postgres: Address) -> None:
    nowhere = replace(postgres, database="there_is_none")

    with pytest.raises(MigrationError) as refused:
        up(nowhere)

    assert postgres.password not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_migrations_are_found_wherever_one_stands(
    empty_database: Address,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)

    up(empty_database)

    assert versions(empty_database)[0] is not None


def test_a_server_that_is_too_old_is_left_alone(
    empty_database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.database.migrate.OLDEST_VERSION", 99)

    with pytest.raises(MigrationError, match=r"^PostgreSQL \d+ is too old; Nimbill needs 99"):
        up(empty_database)

    assert tables(empty_database) == set()


def test_sslmode_reaches_the_driver_under_its_own_name(empty_database: Address) -> None:
    asyncio.run(migrate(f"{empty_database.url}&sslmode=prefer"))

    with pytest.raises(MigrationError, match="must be one of: disable, allow, prefer, require"):
        asyncio.run(migrate(f"{empty_database.url}&sslmode=sometimes"))
