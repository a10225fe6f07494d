"""The tables in the code are those of the database, and walls stand around every one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import asyncpg
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from nimbill.application import schema
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import drop_schema, migrate
from nimbill.database.tenant_scope import APP_ROLE, create_owner_engine
from tests.contract import schema_checks
from tests.own_database import own_database
from tests.running_service import Service

POSTGRESQL: sa.Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
VERSION_TABLES = {package.version_table for package in schema.MIGRATIONS}
T = TypeVar("T")
Look = Callable[[asyncpg.Connection], Awaitable[T]]


@pytest.fixture(scope="module")
def database(postgres: Address, superuser: Address) -> Iterator[Address]:
    """Freshly migrated, with nothing in it."""
    with own_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url, schema.MIGRATIONS))
        yield address


@pytest.fixture(scope="module")
def behind(database: Address, superuser: Address) -> Address:
    return replace(superuser, database=database.database)


def look(address: Address, question: Look[T], *changes: str) -> T:
    """Ask after these changes, none of which stays."""

    async def run() -> T:
        db = await asyncpg.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            database=address.database,
        )
        try:
            await db.execute("BEGIN")
            for change in changes:
                await db.execute(change)
            return await question(db)
        finally:
            await db.close()

    return asyncio.run(run())


# ── the tables themselves ────────────────────────────────────────────────────────────────────────

Shape = dict[str, dict[str, tuple[str, bool, bool]]]


def migrated(address: Address) -> Shape:
    async def run() -> Shape:
        engine = create_owner_engine(address.url)
        try:
            async with engine.connect() as db:
                return await db.run_sync(_reflected)
        finally:
            await engine.dispose()

    return asyncio.run(run())


def _reflected(connection: sa.Connection) -> Shape:
    found = sa.MetaData()
    found.reflect(connection)
    return shape_of(found)


def shape_of(metadata: sa.MetaData) -> Shape:
    """Table to column to type, whether it may be null, whether it is of the primary key."""
    return {
        table.name: {
            column.name: (_type(column.type), bool(column.nullable), column.primary_key)
            for column in table.columns
        }
        for table in metadata.tables.values()
        if table.name not in VERSION_TABLES
    }


def _type(kind: sa.types.TypeEngine[Any]) -> str:
    return str(kind.compile(dialect=POSTGRESQL))


def test_tables_in_the_code_are_those_of_the_database(database: Address) -> None:
    assert shape_of(schema.metadata) == migrated(database)


def test_columns_stand_in_the_same_order(database: Address) -> None:
    in_code, in_database = shape_of(schema.metadata), migrated(database)

    assert {name: list(table) for name, table in in_code.items()} == {
        name: list(table) for name, table in in_database.items()
    }


def test_a_difference_between_code_and_database_is_found() -> None:
    def table(*columns: sa.Column[Any]) -> Shape:
        metadata = sa.MetaData()
        sa.Table("t", metadata, *columns)
        return shape_of(metadata)

    sound = table(sa.Column("a", sa.Text, primary_key=True), sa.Column("b", sa.Numeric))

    assert sound != table(sa.Column("a", sa.Text, primary_key=True), sa.Column("b", sa.Float))
    assert sound != table(sa.Column("a", sa.Text), sa.Column("b", sa.Numeric))
    assert sound != table(
        sa.Column("a", sa.Text, primary_key=True), sa.Column("b", sa.Numeric, nullable=False)
    )


def test_migrations_can_be_undone_and_done_again(
    postgres: Address, superuser: Address, database: Address
) -> None:
    with own_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url, schema.MIGRATIONS))
        asyncio.run(drop_schema(address.url, schema.MIGRATIONS))
        assert migrated(address) == {}

        asyncio.run(migrate(address.url, schema.MIGRATIONS))
        assert migrated(address) == migrated(database)


# ── the walls ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wall", schema_checks.ALL_CHECKS, ids=lambda wall: wall.__name__)
def test_the_wall_stands(behind: Address, wall: Look[list[str]]) -> None:
    assert look(behind, wall) == []


BREACHES: list[tuple[Look[list[str]], str, str]] = [
    (
        schema_checks.tables_without_row_security,
        "CREATE TABLE t (a text)",
        "t does not carry its organisation",
    ),
    (
        schema_checks.tables_without_row_security,
        "ALTER TABLE users NO FORCE ROW LEVEL SECURITY",
        "users does not force its wall",
    ),
    (
        schema_checks.tables_without_row_security,
        "ALTER TABLE users DISABLE ROW LEVEL SECURITY",
        "users does not force its wall",
    ),
    (
        schema_checks.wrong_policies,
        "DROP POLICY tenant_isolation ON users",
        "users shows rows of every organisation",
    ),
    (
        schema_checks.wrong_policies,
        "CREATE POLICY extra ON users USING (true)",
        "users has another policy, extra",
    ),
    (
        schema_checks.wrong_policies,
        "ALTER POLICY tenant_isolation ON users WITH CHECK (true)",
        "users has another policy, tenant_isolation",
    ),
    (
        schema_checks.wrong_policies,
        "DROP POLICY owner_reads_all_tenants ON jobs",
        "jobs is not looked across",
    ),
    (
        schema_checks.foreign_keys_across_organisations,
        "CREATE TABLE t (organisation_id text, kid text CONSTRAINT loose REFERENCES signing_keys)",
        "t: loose can cross organisations",
    ),
    (
        schema_checks.uniqueness_across_organisations,
        "CREATE UNIQUE INDEX everywhere ON users (lower(email))",
        "everywhere is unique across organisations",
    ),
    (schema_checks.views, "CREATE VIEW v AS SELECT * FROM users", "v is a view"),
    (
        schema_checks.unsafe_security_definer_functions,
        "ALTER FUNCTION append_audit_entry(text) SECURITY DEFINER",
        "append_audit_entry runs as its owner",
    ),
    (
        schema_checks.unsafe_security_definer_functions,
        "ALTER FUNCTION find_organisation_id(text, text) RESET search_path",
        "find_organisation_id does not fix its search path",
    ),
    (
        schema_checks.unsafe_security_definer_functions,
        "ALTER FUNCTION find_organisation_id(text, text) VOLATILE",
        "find_organisation_id can write as its owner",
    ),
    (
        schema_checks.excess_privileges,
        f"ALTER ROLE {APP_ROLE} BYPASSRLS",
        f"{APP_ROLE}: mighty",
    ),
    (
        schema_checks.excess_privileges,
        f"GRANT pg_read_all_data TO {APP_ROLE}",
        f"{APP_ROLE}: somebody_else",
    ),
    (
        schema_checks.excess_privileges,
        f"GRANT UPDATE ON audit_log TO {APP_ROLE}",
        f"{APP_ROLE} may UPDATE audit_log",
    ),
    (
        schema_checks.excess_privileges,
        f"GRANT TRUNCATE ON users TO {APP_ROLE}",
        f"{APP_ROLE} may TRUNCATE users",
    ),
    (
        schema_checks.excess_privileges,
        "GRANT SELECT ON users TO PUBLIC",
        "PUBLIC may SELECT users",
    ),
    (
        schema_checks.excess_privileges,
        f"GRANT CREATE ON SCHEMA public TO {APP_ROLE}",
        f"{APP_ROLE}: creates",
    ),
    (
        schema_checks.excess_privileges,
        f"ALTER TABLE users OWNER TO {APP_ROLE}",
        f"{APP_ROLE}: owns",
    ),
]


@pytest.mark.parametrize(("wall", "change", "complaint"), BREACHES, ids=[b[2] for b in BREACHES])
def test_a_breach_is_found(
    behind: Address, wall: Look[list[str]], change: str, complaint: str
) -> None:
    assert complaint in look(behind, wall, change)


# ── what the walls do ────────────────────────────────────────────────────────────────────────────

WALLED = sorted(set(schema.metadata.tables) - schema_checks.WITHOUT_ORGANISATION.keys())


def as_application(organisation_id: str | None) -> list[str]:
    """The changes after which one is the application, working for this organisation."""
    working = f"SET LOCAL nimbill.organisation = '{organisation_id}'"
    return [f"SET LOCAL ROLE {APP_ROLE}", *([] if organisation_id is None else [working])]


@pytest.fixture(scope="module")
def two(running: Service) -> tuple[str, str]:
    """Two organisations of the running service."""
    mine, other = running.new_organisation(), running.new_organisation()
    return mine.organisation_id, other.organisation_id


@pytest.mark.parametrize("table", WALLED)
def test_only_rows_of_the_organisation_at_work_are_there(
    two: tuple[str, str], superuser: Address, table: str
) -> None:
    mine, other = two

    async def whose(db: asyncpg.Connection) -> set[str]:
        rows = await db.fetch(f"SELECT DISTINCT organisation_id FROM {table}")
        return {row["organisation_id"] for row in rows}

    everybody = look(superuser, whose)
    seen = look(superuser, whose, *as_application(mine))

    assert look(superuser, whose, *as_application(None)) == set()
    assert look(superuser, whose, *as_application("")) == set()
    assert seen == everybody & {mine}
    if table in ("users", "api_clients", "tenant_lookups", "audit_log", "jobs"):
        assert {mine, other} <= everybody


def test_a_row_of_another_organisation_cannot_be_written(
    two: tuple[str, str], superuser: Address
) -> None:
    mine, other = two
    foreign = f"organisation_id = '{other}'"

    async def moved(db: asyncpg.Connection) -> str:
        status: str = await db.execute(f"UPDATE users SET username = 'x' WHERE {foreign}")
        return status

    async def given_away(db: asyncpg.Connection) -> None:
        await db.execute(f"UPDATE users SET {foreign}")

    async def added(db: asyncpg.Connection) -> None:
        await db.execute("INSERT INTO tenant_lookups VALUES ($1, 'short_name', 'theirs')", other)

    application = as_application(mine)

    assert look(superuser, moved, *application) == "UPDATE 0"
    for change in (given_away, added):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            look(superuser, change, *application)
