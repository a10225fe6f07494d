"""Row-level security: each tenant sees its own rows only, and nobody changes audit rows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from nimbill.application.schema import MIGRATIONS, metadata
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import migrate
from nimbill.database.tenant_scope import (
    APP_ROLE,
    create_app_engine,
    is_database_unavailable,
    transaction,
)
from tests.contract.schema_checks import OWNER_READS_ALL_TENANTS, WITHOUT_ORGANISATION
from tests.temporary_database import execute_script, execute_sql, temporary_database

VICTIM, ATTACKER = "org_victim", "org_attacker"

TABLES = sorted(set(metadata.tables) - set(WITHOUT_ORGANISATION))

VALUES = {
    "text": "'{}'",
    "integer": "1",
    "bigint": "1",
    "smallint": "1",
    "numeric": "1",
    "boolean": "true",
    "bytea": "'x'",
    "jsonb": "'{}'",
    "date": "now()",
    "uuid": "gen_random_uuid()",
    "timestamp with time zone": "now()",
    "ARRAY": "'{}'",
}


@pytest.fixture(scope="module")
def database(postgres: Address, superuser: Address) -> Iterator[Address]:
    """A database with one row of the victim in every table."""
    with temporary_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url, MIGRATIONS))
        _insert_rows(replace(superuser, database=address.database))
        yield address


def _insert_rows(superuser: Address) -> None:
    columns = execute_sql(
        superuser,
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND is_nullable = 'NO' AND is_generated = 'NEVER'"
        " AND is_identity = 'NO'",
    )
    checks = execute_sql(
        superuser,
        "SELECT conrelid::regclass::text AS table_name, conname FROM pg_constraint"
        " WHERE contype = 'c' AND connamespace = 'public'::regnamespace",
    )
    # Foreign keys are triggers, which a replica does not fire.
    statements = ["SET session_replication_role = replica"]
    statements += [
        f"ALTER TABLE {row['table_name']} DROP CONSTRAINT {row['conname']}" for row in checks
    ]
    for table in TABLES:
        types = {row["column_name"]: row["data_type"] for row in columns if row[0] == table}
        values = {name: VALUES[type_] for name, type_ in types.items()}
        values["organisation_id"] = f"'{VICTIM}'"
        names, literals = ", ".join(values), ", ".join(values.values())
        statements.append(f"INSERT INTO {table} ({names}) VALUES ({literals})")
    execute_script(superuser, ";".join(statements))


class AppConnection:
    """Executes statements as the role that requests run as, and rolls them back."""

    def __init__(self, address: Address) -> None:
        self._loop = asyncio.new_event_loop()
        self._engine = create_app_engine(address.url, 1)

    def close(self) -> None:
        self._loop.run_until_complete(self._engine.dispose())
        self._loop.close()

    def execute(self, *statements: str) -> Any:
        """Return the rows of the last statement, or the number of rows it affected."""
        return self._loop.run_until_complete(self._execute(statements))

    async def _execute(self, statements: tuple[str, ...]) -> Any:
        async with self._engine.connect() as db:
            for statement in statements:
                result = await db.execute(sa.text(statement))
            return result.all() if result.returns_rows else result.rowcount

    def execute_refused(self, *statements: str) -> str:
        """Return the error message of the last statement."""
        with pytest.raises(DBAPIError) as error:
            self.execute(*statements)
        assert error.value.orig is not None
        return str(error.value.orig.__cause__)

    def count(self, table: str, *before: str) -> int:
        ((number,),) = self.execute(*before, f"SELECT count(*) FROM {table}")
        return int(number)


@pytest.fixture(scope="module")
def app(database: Address) -> Iterator[AppConnection]:
    connection = AppConnection(database)
    yield connection
    connection.close()


def set_tenant_stmt(organisation_id: str) -> str:
    return f"SELECT set_config('nimbill.organisation', '{organisation_id}', true)"


AS_VICTIM, AS_ATTACKER = set_tenant_stmt(VICTIM), set_tenant_stmt(ATTACKER)


def test_every_table_has_an_organisation_id() -> None:
    for name, table in metadata.tables.items():
        assert ("organisation_id" in table.c) is (name not in WITHOUT_ORGANISATION), name


def test_requests_run_as_a_role_without_ownership_or_privileges(
    app: AppConnection, database: Address, superuser: Address
) -> None:
    rights = execute_sql(
        superuser,
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin"
        " FROM pg_roles WHERE rolname = $1",
        APP_ROLE,
    )
    owned = execute_sql(
        replace(superuser, database=database.database),
        "SELECT relname FROM pg_class WHERE relowner = $1::text::regrole",
        APP_ROLE,
    )

    assert app.execute("SELECT current_user") == [(APP_ROLE,)]
    assert [tuple(row) for row in rights] == [(False,) * 5]
    assert owned == []


@pytest.mark.parametrize("table", TABLES)
def test_without_a_tenant_no_rows_are_visible(app: AppConnection, table: str) -> None:
    assert app.count(table, AS_VICTIM) == 1
    assert app.count(table) == 0
    assert app.count(table, set_tenant_stmt("")) == 0


@pytest.mark.parametrize("table", TABLES)
def test_rows_of_another_organisation_are_invisible(app: AppConnection, table: str) -> None:
    assert app.count(table, AS_ATTACKER) == 0
    assert app.count(f"{table} WHERE organisation_id = '{VICTIM}'", AS_ATTACKER) == 0


CHANGES = {
    "take all rows": f"UPDATE {{table}} SET organisation_id = '{ATTACKER}'",
    "take their rows": f"UPDATE {{table}} SET organisation_id = '{ATTACKER}' WHERE true",
    "delete their rows": f"DELETE FROM {{table}} WHERE organisation_id = '{VICTIM}'",
    "delete all rows": "DELETE FROM {table}",
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("change", CHANGES)
def test_rows_of_another_organisation_cannot_be_changed(
    app: AppConnection, table: str, change: str
) -> None:
    statement = CHANGES[change].format(table=table)
    right = statement.split()[0]
    ((granted,),) = app.execute(f"SELECT has_table_privilege('{table}', '{right}')")

    if granted:
        assert app.execute(AS_ATTACKER, statement) == 0
        assert app.count(table, AS_ATTACKER, statement, AS_VICTIM) == 1
    else:
        assert "permission denied" in app.execute_refused(AS_ATTACKER, statement)


@pytest.mark.parametrize("table", TABLES)
def test_no_row_can_be_inserted_for_another_organisation(app: AppConnection, table: str) -> None:
    message = app.execute_refused(
        AS_ATTACKER, f"INSERT INTO {table} (organisation_id) VALUES ('{VICTIM}')"
    )

    assert "row-level security" in message


@pytest.mark.parametrize("table", TABLES)
def test_no_row_can_be_moved_to_another_organisation(app: AppConnection, table: str) -> None:
    message = app.execute_refused(AS_VICTIM, f"UPDATE {table} SET organisation_id = '{ATTACKER}'")

    refusals = ("row-level security", "permission denied", "cannot be changed")
    assert any(refusal in message for refusal in refusals)


@pytest.mark.parametrize("table", TABLES)
def test_row_security_applies_to_the_owner_too(database: Address, table: str) -> None:
    visible = execute_sql(database, f"SELECT count(*) FROM {table}")[0][0]

    assert visible == (1 if table in OWNER_READS_ALL_TENANTS else 0)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit_log SET entry = '{}'",
        "UPDATE audit_log SET hash = ''",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "DELETE FROM audit_heads",
        "ALTER TABLE audit_log DISABLE ROW LEVEL SECURITY",
        "DROP TABLE audit_log CASCADE",
    ],
)
def test_audit_rows_cannot_be_changed_by_their_own_organisation(
    app: AppConnection, change: str
) -> None:
    message = app.execute_refused(AS_VICTIM, change)

    assert "permission denied" in message or "must be owner" in message


@pytest.mark.parametrize(
    "statement",
    [
        "SET SESSION AUTHORIZATION postgres",
        "CREATE TABLE mine (a int)",
        "ALTER TABLE users NO FORCE ROW LEVEL SECURITY",
        "CREATE POLICY all_rows ON users USING (true)",
        "DROP POLICY tenant_isolation ON users",
        "ALTER ROLE nimbill_app BYPASSRLS",
    ],
)
def test_the_role_of_requests_cannot_disable_row_security(
    app: AppConnection, statement: str
) -> None:
    message = app.execute_refused(AS_ATTACKER, statement)

    assert "permission denied" in message or "must be owner" in message


def test_switching_row_security_off_for_a_query_is_refused(app: AppConnection) -> None:
    message = app.execute_refused(
        AS_ATTACKER, "SET LOCAL row_security = off", "SELECT * FROM users"
    )

    assert "row-level security" in message


def test_the_tenant_is_set_for_one_transaction_only(database: Address) -> None:
    async def count_users() -> list[int]:
        engine = create_app_engine(database.url, 1)
        stmt = sa.text("SELECT count(*) FROM users")
        async with transaction(engine, VICTIM) as db:
            first = (await db.execute(stmt)).scalar_one()
        async with engine.begin() as db:
            second = (await db.execute(stmt)).scalar_one()
        await engine.dispose()
        return [first, second]

    assert asyncio.run(count_users()) == [1, 0]


def test_a_failed_transaction_is_rolled_back(app: AppConnection, database: Address) -> None:
    async def fail() -> None:
        engine = create_app_engine(database.url, 1)
        try:
            async with transaction(engine, VICTIM) as db:
                await db.execute(sa.text("UPDATE users SET username = 'changed'"))
                raise ValueError
        finally:
            await engine.dispose()

    with pytest.raises(ValueError):
        asyncio.run(fail())

    assert app.execute(AS_VICTIM, "SELECT username FROM users") == [("{}",)]


@pytest.mark.parametrize("number", ["1000000", "10000", "0.10", "0.0000", "1200000000000.000"])
def test_numbers_are_read_with_their_stored_digits(app: AppConnection, number: str) -> None:
    ((value,),) = app.execute(f"SELECT {number}::numeric")

    assert isinstance(value, Decimal)
    assert str(value) == number


class DriverError(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("driver error")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "unavailable"),
    [
        (DBAPIError("", {}, DriverError("57P01")), True),
        (DBAPIError("", {}, DriverError("08006")), True),
        (DBAPIError("", {}, DriverError("53300")), True),
        (DBAPIError("", {}, DriverError("55P03")), True),
        (DBAPIError("", {}, DriverError("40P01")), True),
        (DBAPIError("", {}, DriverError("40001")), True),
        (DBAPIError("", {}, DriverError("58030")), True),
        (DBAPIError("", {}, DriverError("anything"), connection_invalidated=True), True),
        (DBAPIError("", {}, DriverError("23505")), False),
        (DBAPIError("", {}, DriverError("22003")), False),
        (DBAPIError("", {}, DriverError("")), False),
        (PoolTimeout("no connection is free"), True),
        (ConnectionRefusedError(), True),
        (TimeoutError(), True),
        (FileNotFoundError(), True),
        (ValueError(), False),
    ],
)
def test_an_unavailable_database_is_distinguished_from_other_errors(
    error: Exception, *, unavailable: bool
) -> None:
    assert is_database_unavailable(error) is unavailable
