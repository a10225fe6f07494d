"""The tables of the code equal those of the migrations, and the database isolates tenants."""

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
from nimbill.database.migrate import migrate
from nimbill.database.tenant_scope import APP_ROLE, TenantScope, create_owner_engine, transaction
from nimbill.jobs.recurring import schedule_maintenance
from tests.contract import schema_checks
from tests.database.schema_catalogue import drop_schema
from tests.running_service import Service
from tests.temporary_database import connected, temporary_database

POSTGRESQL: sa.Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
VERSION_TABLES = {package.version_table for package in schema.MIGRATIONS}
T = TypeVar("T")
Check = Callable[[asyncpg.Connection], Awaitable[T]]


@pytest.fixture(scope="module")
def database(postgres: Address, superuser: Address) -> Iterator[Address]:
    """A migrated, empty database."""
    with temporary_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url, schema.MIGRATIONS))
        yield address


@pytest.fixture(scope="module")
def superuser_of_database(database: Address, superuser: Address) -> Address:
    return replace(superuser, database=database.database)


def run_check(address: Address, check: Check[T], *changes: str) -> T:
    """Run a check after these changes, then roll them back."""

    async def run() -> T:
        async with connected(address) as db:
            await db.execute("BEGIN")
            for change in changes:
                await db.execute(change)
            return await check(db)

    return asyncio.run(run())


# ── the tables themselves ────────────────────────────────────────────────────────────────────────

TableShapes = dict[str, dict[str, tuple[str, bool, bool]]]


def read_table_shapes(address: Address) -> TableShapes:
    async def run() -> TableShapes:
        engine = create_owner_engine(address.url)
        try:
            async with engine.connect() as db:
                return await db.run_sync(_reflect)
        finally:
            await engine.dispose()

    return asyncio.run(run())


def _reflect(connection: sa.Connection) -> TableShapes:
    metadata = sa.MetaData()
    metadata.reflect(connection)
    return table_shapes(metadata)


def table_shapes(metadata: sa.MetaData) -> TableShapes:
    """Type, nullability and primary key membership by table and column."""
    return {
        table.name: {
            column.name: (_type_name(column.type), bool(column.nullable), column.primary_key)
            for column in table.columns
        }
        for table in metadata.tables.values()
        if table.name not in VERSION_TABLES
    }


def _type_name(type_: sa.types.TypeEngine[Any]) -> str:
    return str(type_.compile(dialect=POSTGRESQL))


def test_the_tables_of_the_code_equal_the_migrated_ones(database: Address) -> None:
    assert table_shapes(schema.metadata) == read_table_shapes(database)


def test_columns_are_in_the_same_order(database: Address) -> None:
    in_code, in_database = table_shapes(schema.metadata), read_table_shapes(database)

    assert {name: list(table) for name, table in in_code.items()} == {
        name: list(table) for name, table in in_database.items()
    }


def test_a_difference_between_code_and_database_is_found() -> None:
    def table(*columns: sa.Column[Any]) -> TableShapes:
        metadata = sa.MetaData()
        sa.Table("t", metadata, *columns)
        return table_shapes(metadata)

    expected = table(sa.Column("a", sa.Text, primary_key=True), sa.Column("b", sa.Numeric))

    assert expected != table(sa.Column("a", sa.Text, primary_key=True), sa.Column("b", sa.Float))
    assert expected != table(sa.Column("a", sa.Text), sa.Column("b", sa.Numeric))
    assert expected != table(
        sa.Column("a", sa.Text, primary_key=True), sa.Column("b", sa.Numeric, nullable=False)
    )


def test_migrations_can_be_undone_and_repeated(
    postgres: Address, superuser: Address, database: Address
) -> None:
    with temporary_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url, schema.MIGRATIONS))
        drop_schema(address, schema.MIGRATIONS)
        assert read_table_shapes(address) == {}

        asyncio.run(migrate(address.url, schema.MIGRATIONS))
        assert read_table_shapes(address) == read_table_shapes(database)


# ── tenant isolation in the catalogue ────────────────────────────────────────────────────────────


@pytest.mark.parametrize("check", schema_checks.ALL_CHECKS, ids=lambda check: check.__name__)
def test_the_schema_isolates_tenants(
    superuser_of_database: Address, check: Check[list[str]]
) -> None:
    assert run_check(superuser_of_database, check) == []


VIOLATIONS: list[tuple[Check[list[str]], str, str]] = [
    (
        schema_checks.tables_without_row_security,
        "CREATE TABLE t (a text)",
        "t has no organisation",
    ),
    (
        schema_checks.tables_without_row_security,
        "ALTER TABLE users NO FORCE ROW LEVEL SECURITY",
        "users does not force row-level security",
    ),
    (
        schema_checks.tables_without_row_security,
        "ALTER TABLE users DISABLE ROW LEVEL SECURITY",
        "users does not force row-level security",
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
        "the owner of jobs does not read all organisations",
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
        f"{APP_ROLE}: privileged",
    ),
    (
        schema_checks.excess_privileges,
        f"GRANT pg_read_all_data TO {APP_ROLE}",
        f"{APP_ROLE}: member_of_another_role",
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
        f"{APP_ROLE}: creates_objects",
    ),
    (
        schema_checks.excess_privileges,
        f"ALTER TABLE users OWNER TO {APP_ROLE}",
        f"{APP_ROLE}: owns",
    ),
]


@pytest.mark.parametrize(
    ("check", "change", "complaint"), VIOLATIONS, ids=[complaint for *_, complaint in VIOLATIONS]
)
def test_a_violation_is_found(
    superuser_of_database: Address, check: Check[list[str]], change: str, complaint: str
) -> None:
    assert complaint in run_check(superuser_of_database, check, change)


# ── tenant isolation in queries ──────────────────────────────────────────────────────────────────

TENANT_TABLES = sorted(set(schema.metadata.tables) - schema_checks.WITHOUT_ORGANISATION.keys())


def application_role(organisation_id: str | None) -> list[str]:
    """Statements that switch to the role of requests, for this organisation."""
    scope = f"SET LOCAL nimbill.organisation = '{organisation_id}'"
    return [f"SET LOCAL ROLE {APP_ROLE}", *([] if organisation_id is None else [scope])]


@pytest.fixture(scope="module")
def two_organisations(running: Service) -> tuple[str, str]:
    """Each has a job, besides the rows of every new organisation."""
    own = running.new_organisation().organisation_id
    other = running.new_organisation().organisation_id

    async def add_jobs() -> None:
        for organisation_id in (own, other):
            async with transaction(running.resources.engine, organisation_id) as db:
                await schedule_maintenance(db, TenantScope(organisation_id))

    running.run(add_jobs)
    return own, other


async def list_visible_organisations(db: asyncpg.Connection) -> dict[str, set[str]]:
    """The organisations whose rows are visible, by table."""
    return {
        table: {
            row["organisation_id"]
            for row in await db.fetch(f"SELECT DISTINCT organisation_id FROM {table}")
        }
        for table in TENANT_TABLES
    }


def test_only_rows_of_the_current_organisation_are_visible(
    two_organisations: tuple[str, str], superuser: Address
) -> None:
    own, other = two_organisations
    nothing: dict[str, set[str]] = {table: set() for table in TENANT_TABLES}

    stored = run_check(superuser, list_visible_organisations)
    visible = run_check(superuser, list_visible_organisations, *application_role(own))

    assert visible == {table: ids & {own} for table, ids in stored.items()}
    for no_organisation in (None, ""):
        statements = application_role(no_organisation)
        assert run_check(superuser, list_visible_organisations, *statements) == nothing
    for table in ("users", "api_clients", "tenant_lookups", "audit_log", "jobs"):
        assert {own, other} <= stored[table]


def test_rows_of_another_organisation_cannot_be_written(
    two_organisations: tuple[str, str], superuser: Address
) -> None:
    own, other = two_organisations
    foreign = f"organisation_id = '{other}'"

    async def update_foreign_row(db: asyncpg.Connection) -> str:
        status: str = await db.execute(f"UPDATE users SET username = 'x' WHERE {foreign}")
        return status

    async def give_away_row(db: asyncpg.Connection) -> None:
        await db.execute(f"UPDATE users SET {foreign}")

    async def add_foreign_row(db: asyncpg.Connection) -> None:
        await db.execute("INSERT INTO tenant_lookups VALUES ($1, 'short_name', 'theirs')", other)

    application = application_role(own)

    assert run_check(superuser, update_foreign_row, *application) == "UPDATE 0"
    for change in (give_away_row, add_foreign_row):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            run_check(superuser, change, *application)
