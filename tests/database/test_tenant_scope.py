"""The walls of the database: whose rows exist for whom, and what may never be changed."""

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
from nimbill.database.tenant_scope import APP_ROLE, engine_for, is_database_unavailable, transaction
from tests.contract.schema_checks import LOOKED_ACROSS, WITHOUT_ORGANISATION
from tests.own_database import own_database, sql, sql_script

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
    """A database with one row of the victim in every table there is."""
    with own_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url, MIGRATIONS))
        _fill(replace(superuser, database=address.database))
        yield address


def _fill(superuser: Address) -> None:
    columns = sql(
        superuser,
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND is_nullable = 'NO' AND is_generated = 'NEVER'"
        " AND is_identity = 'NO'",
    )
    checks = sql(
        superuser,
        "SELECT conrelid::regclass::text AS place, conname FROM pg_constraint"
        " WHERE contype = 'c' AND connamespace = 'public'::regnamespace",
    )
    # foreign keys are triggers, and as a replica none of them is asked
    statements = ["SET session_replication_role = replica"]
    statements += [f"ALTER TABLE {row['place']} DROP CONSTRAINT {row['conname']}" for row in checks]
    for table in TABLES:
        wanted = {row["column_name"]: row["data_type"] for row in columns if row[0] == table}
        values = {name: VALUES[kind] for name, kind in wanted.items()}
        values["organisation_id"] = f"'{VICTIM}'"
        names, literals = ", ".join(values), ", ".join(values.values())
        statements.append(f"INSERT INTO {table} ({names}) VALUES ({literals})")
    sql_script(superuser, ";".join(statements))


class Walled:
    """Statements as the role every request runs as; whatever they do is rolled back."""

    def __init__(self, address: Address) -> None:
        self._loop = asyncio.new_event_loop()
        self._engine = engine_for(address.url, 1)

    def close(self) -> None:
        self._loop.run_until_complete(self._engine.dispose())
        self._loop.close()

    def ask(self, *statements: str) -> Any:
        """Rows of the last one, or how many rows it met."""
        return self._loop.run_until_complete(self._ask(statements))

    async def _ask(self, statements: tuple[str, ...]) -> Any:
        async with self._engine.connect() as db:
            for statement in statements:
                done = await db.execute(sa.text(statement))
            return done.all() if done.returns_rows else done.rowcount

    def refuses(self, *statements: str) -> str:
        """Why the last one is not done."""
        with pytest.raises(DBAPIError) as error:
            self.ask(*statements)
        assert error.value.orig is not None
        return str(error.value.orig.__cause__)

    def count(self, table: str, *before: str) -> int:
        ((number,),) = self.ask(*before, f"SELECT count(*) FROM {table}")
        return int(number)


@pytest.fixture(scope="module")
def walled(database: Address) -> Iterator[Walled]:
    role = Walled(database)
    yield role
    role.close()


def acting_for(organisation_id: str) -> str:
    return f"SELECT set_config('nimbill.organisation', '{organisation_id}', true)"


AS_VICTIM, AS_ATTACKER = acting_for(VICTIM), acting_for(ATTACKER)


def test_every_table_carries_its_organisation() -> None:
    for name, table in metadata.tables.items():
        assert ("organisation_id" in table.c) is (name not in WITHOUT_ORGANISATION), name


def test_requests_run_as_a_role_that_owns_nothing_and_passes_no_wall(
    walled: Walled, database: Address, superuser: Address
) -> None:
    rights = sql(
        superuser,
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin"
        " FROM pg_roles WHERE rolname = $1",
        APP_ROLE,
    )
    owned = sql(
        replace(superuser, database=database.database),
        "SELECT relname FROM pg_class WHERE relowner = $1::text::regrole",
        APP_ROLE,
    )

    assert walled.ask("SELECT current_user") == [(APP_ROLE,)]
    assert [tuple(row) for row in rights] == [(False,) * 5]
    assert owned == []


@pytest.mark.parametrize("table", TABLES)
def test_no_organisation_set_means_no_rows(walled: Walled, table: str) -> None:
    assert walled.count(table, AS_VICTIM) == 1
    assert walled.count(table) == 0
    assert walled.count(table, acting_for("")) == 0


@pytest.mark.parametrize("table", TABLES)
def test_rows_of_another_organisation_do_not_exist(walled: Walled, table: str) -> None:
    assert walled.count(table, AS_ATTACKER) == 0
    assert walled.count(f"{table} WHERE organisation_id = '{VICTIM}'", AS_ATTACKER) == 0


CHANGES = {
    "take all": f"UPDATE {{table}} SET organisation_id = '{ATTACKER}'",
    "take theirs": f"UPDATE {{table}} SET organisation_id = '{ATTACKER}' WHERE true",
    "delete theirs": f"DELETE FROM {{table}} WHERE organisation_id = '{VICTIM}'",
    "delete all": "DELETE FROM {table}",
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("change", CHANGES)
def test_rows_of_another_organisation_cannot_be_changed(
    walled: Walled, table: str, change: str
) -> None:
    statement = CHANGES[change].format(table=table)
    right = statement.split()[0]
    ((granted,),) = walled.ask(f"SELECT has_table_privilege('{table}', '{right}')")

    if granted:
        assert walled.ask(AS_ATTACKER, statement) == 0
        assert walled.count(table, AS_ATTACKER, statement, AS_VICTIM) == 1
    else:
        assert "permission denied" in walled.refuses(AS_ATTACKER, statement)


@pytest.mark.parametrize("table", TABLES)
def test_no_row_can_be_written_for_another_organisation(walled: Walled, table: str) -> None:
    said = walled.refuses(AS_ATTACKER, f"INSERT INTO {table} (organisation_id) VALUES ('{VICTIM}')")

    assert "row-level security" in said


@pytest.mark.parametrize("table", TABLES)
def test_no_row_can_be_given_to_another_organisation(walled: Walled, table: str) -> None:
    said = walled.refuses(AS_VICTIM, f"UPDATE {table} SET organisation_id = '{ATTACKER}'")

    assert "row-level security" in said or "permission denied" in said


@pytest.mark.parametrize("table", TABLES)
def test_the_wall_binds_the_owner_of_the_tables_too(database: Address, table: str) -> None:
    seen = sql(database, f"SELECT count(*) FROM {table}")[0][0]

    assert seen == (1 if table in LOOKED_ACROSS else 0)


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
def test_audit_rows_are_never_changed_not_even_ones_own(walled: Walled, change: str) -> None:
    said = walled.refuses(AS_VICTIM, change)

    assert "permission denied" in said or "must be owner" in said


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
def test_the_role_of_requests_cannot_put_walls_down(walled: Walled, statement: str) -> None:
    said = walled.refuses(AS_ATTACKER, statement)

    assert "permission denied" in said or "must be owner" in said


def test_rows_are_not_shown_by_asking_for_no_row_security(walled: Walled) -> None:
    said = walled.refuses(AS_ATTACKER, "SET LOCAL row_security = off", "SELECT * FROM users")

    assert "row-level security" in said


def test_an_organisation_is_set_for_one_transaction_only(database: Address) -> None:
    async def seen() -> list[int]:
        engine = engine_for(database.url, 1)
        question = sa.text("SELECT count(*) FROM users")
        async with transaction(engine, VICTIM) as db:
            first = (await db.execute(question)).scalar_one()
        async with engine.begin() as db:
            second = (await db.execute(question)).scalar_one()
        await engine.dispose()
        return [first, second]

    assert asyncio.run(seen()) == [1, 0]


def test_a_transaction_that_fails_leaves_nothing(walled: Walled, database: Address) -> None:
    async def fail() -> None:
        engine = engine_for(database.url, 1)
        try:
            async with transaction(engine, VICTIM) as db:
                await db.execute(sa.text("UPDATE users SET username = 'changed'"))
                raise ValueError
        finally:
            await engine.dispose()

    with pytest.raises(ValueError):
        asyncio.run(fail())

    assert walled.ask(AS_VICTIM, "SELECT username FROM users") == [("{}",)]


@pytest.mark.parametrize("written", ["1000000", "10000", "0.10", "0.0000", "1200000000000.000"])
def test_a_number_is_read_back_with_the_digits_it_was_written_with(
    walled: Walled, written: str
) -> None:
    ((read,),) = walled.ask(f"SELECT {written}::numeric")

    assert isinstance(read, Decimal)
    assert str(read) == written


class Told(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("told")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (DBAPIError("", {}, Told("57P01")), True),
        (DBAPIError("", {}, Told("08006")), True),
        (DBAPIError("", {}, Told("53300")), True),
        (DBAPIError("", {}, Told("55P03")), True),
        (DBAPIError("", {}, Told("40P01")), True),
        (DBAPIError("", {}, Told("40001")), True),
        (DBAPIError("", {}, Told("58030")), True),
        (DBAPIError("", {}, Told("anything"), connection_invalidated=True), True),
        (DBAPIError("", {}, Told("23505")), False),
        (DBAPIError("", {}, Told("22003")), False),
        (DBAPIError("", {}, Told("")), False),
        (PoolTimeout("no connection is free"), True),
        (ConnectionRefusedError(), True),
        (TimeoutError(), True),
        (FileNotFoundError(), True),
        (ValueError(), False),
    ],
)
def test_a_database_that_is_away_is_told_from_a_fault(error: Exception, *, away: bool) -> None:
    assert is_database_unavailable(error) is away
