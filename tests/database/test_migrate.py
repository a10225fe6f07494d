"""Migrations: upgrade, downgrade, concurrent callers, failures."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

from nimbill.application.schema import MIGRATIONS, metadata
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import _MIGRATION_LOCK as MIGRATION_LOCK
from nimbill.database.migrate import (
    MigrationError,
    MigrationPackage,
    is_known_revision,
    migrate,
)
from nimbill.database.tenant_scope import create_owner_engine
from tests.database.schema_catalogue import (
    describe_schema,
    drop_schema,
    is_current,
    list_functions,
    list_tables,
)
from tests.temporary_database import execute_sql

HAS_ANOTHER_ASKED = sa.text(
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
    "AND datname = current_database() "
    "AND (query LIKE '%pg_try_advisory_lock%' OR query LIKE 'COMMIT%'))"
)
VERSION_TABLES = {package.version_table for package in MIGRATIONS}


def upgrade(address: Address) -> None:
    asyncio.run(migrate(address.url, MIGRATIONS))


def downgrade(address: Address) -> None:
    drop_schema(address, MIGRATIONS)


@pytest.mark.parametrize("package", MIGRATIONS, ids=lambda package: package.version_table)
def test_the_name_of_a_migration_file_begins_with_its_revision(package: MigrationPackage) -> None:
    """The program takes its revisions from the names; Alembic reads the files."""
    config = Config()
    config.set_main_option("script_location", "nimbill.database:migrations")
    config.set_main_option("version_locations", f"{package.name}:versions")
    config.set_main_option("path_separator", "newline")

    scripts = list(ScriptDirectory.from_config(config).walk_revisions())

    assert scripts
    for script in scripts:
        assert is_known_revision(package, script.revision)
        assert Path(script.path).name.startswith(f"{script.revision}_")
    assert scripts[0].revision == max(script.revision for script in scripts)


def test_upgrade_of_an_empty_database_creates_every_table(empty_database: Address) -> None:
    assert not is_current(empty_database)

    upgrade(empty_database)

    assert list_tables(empty_database) == {*metadata.tables, *VERSION_TABLES}
    assert is_current(empty_database)


def test_upgrade_after_downgrade_restores_the_same_schema(empty_database: Address) -> None:
    upgrade(empty_database)
    schema = describe_schema(empty_database)

    downgrade(empty_database)
    assert list_tables(empty_database) == VERSION_TABLES
    assert list_functions(empty_database) == set()
    assert not is_current(empty_database)

    upgrade(empty_database)
    assert describe_schema(empty_database) == schema


def test_upgrade_of_a_current_database_changes_nothing(empty_database: Address) -> None:
    upgrade(empty_database)
    schema = describe_schema(empty_database)
    execute_sql(empty_database, "INSERT INTO signing_keys VALUES ('k', 'core', 'next', '', '')")

    upgrade(empty_database)

    assert describe_schema(empty_database) == schema
    assert len(execute_sql(empty_database, "SELECT * FROM signing_keys")) == 1


def test_concurrent_upgrades_all_succeed(empty_database: Address) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(upgrade, [empty_database] * 4))

    assert is_current(empty_database)
    for table in VERSION_TABLES:
        assert len(execute_sql(empty_database, f"SELECT * FROM {table}")) == 1


def test_an_upgrade_waits_for_one_that_is_under_way(empty_database: Address) -> None:
    async def upgrade_while_locked() -> bool:
        engine = create_owner_engine(empty_database.url)
        async with engine.connect() as db:
            await db.execute(sa.select(sa.func.pg_advisory_lock(MIGRATION_LOCK)))
            upgrading = asyncio.create_task(migrate(empty_database.url, MIGRATIONS))
            while not upgrading.done():
                if (await db.execute(HAS_ANOTHER_ASKED)).scalar_one():
                    break
                await db.commit()  # else it would see the same activity again
                await asyncio.sleep(0.01)
            waited = not upgrading.done()
            await db.execute(sa.select(sa.func.pg_advisory_unlock(MIGRATION_LOCK)))
            await upgrading
        await engine.dispose()
        return waited

    assert asyncio.run(upgrade_while_locked())
    assert is_current(empty_database)


def test_failed_upgrade_leaves_the_database_unchanged(empty_database: Address) -> None:
    execute_sql(empty_database, "CREATE TABLE exports (a int)")  # makes a late statement fail

    with pytest.raises(MigrationError, match="already exists"):
        upgrade(empty_database)

    assert list_tables(empty_database) == {"exports"}
    execute_sql(empty_database, "DROP TABLE exports")
    upgrade(empty_database)
    assert is_current(empty_database)


def test_a_missing_database_is_reported_in_one_line_without_the_password(
    postgres: Address,
) -> None:
    missing = replace(postgres, database="does_not_exist")

    with pytest.raises(MigrationError) as refused:
        upgrade(missing)

    assert postgres.password not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_migrations_do_not_depend_on_the_working_directory(
    empty_database: Address,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    upgrade(empty_database)

    assert is_current(empty_database)


def test_a_server_older_than_supported_is_refused(
    empty_database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.database.migrate.OLDEST_VERSION", 99)

    with pytest.raises(MigrationError, match=r"^PostgreSQL \d+ is too old; Nimbill needs 99"):
        upgrade(empty_database)

    assert list_tables(empty_database) == set()


def test_sslmode_is_passed_to_the_driver(empty_database: Address) -> None:
    asyncio.run(migrate(f"{empty_database.url}&sslmode=prefer", MIGRATIONS))

    with pytest.raises(MigrationError, match="must be one of: disable, allow, prefer, require"):
        asyncio.run(migrate(f"{empty_database.url}&sslmode=sometimes", MIGRATIONS))
