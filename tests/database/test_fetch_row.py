"""fetch_row: same transaction, errors and lost connections as with SQLAlchemy statements."""

import asyncio

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import fetch_row, is_database_unavailable
from tests.running_service import Service
from tests.temporary_database import execute_sql

ORGANISATION = "SELECT current_setting('nimbill.organisation', true)"
SET = "SELECT set_config('nimbill.organisation', $1, true)"


def test_it_runs_in_the_transaction_of_the_connection(service: Service) -> None:
    async def read_before_and_after_rollback() -> list[str | None]:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, SET, "org_test")
            before = (await db.execute(sa.text(ORGANISATION))).scalar_one()
            await db.rollback()
            return [before, (await db.execute(sa.text(ORGANISATION))).scalar_one()]

    assert service.run(read_before_and_after_rollback) == ["org_test", ""]


def test_its_changes_are_committed_with_the_transaction(service: Service) -> None:
    async def change_and_commit() -> object:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, "SELECT set_config('nimbill.test', $1, false)", "changed")
            await db.commit()
            value = (await db.execute(sa.text("SELECT current_setting('nimbill.test')"))).scalar()
            await db.invalidate()
            return value

    assert service.run(change_and_commit) == "changed"


def test_without_a_row_it_returns_none(service: Service) -> None:
    async def fetch_nothing() -> object:
        async with service.resources.engine.connect() as db:
            return await fetch_row(db, "SELECT 1 WHERE $1::text IS NULL", "something")

    assert service.run(fetch_nothing) is None


def test_an_error_has_its_sqlstate_but_not_the_values(service: Service) -> None:
    async def divide_by_zero() -> None:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, "SELECT 1 / length($1::text) - 1 / 0", "canary")

    with pytest.raises(DBAPIError) as caught:
        service.run(divide_by_zero)

    assert getattr(caught.value.orig, "sqlstate", None) == "22012"  # division by zero
    assert not caught.value.connection_invalidated
    assert "canary" not in str(caught.value)


def test_a_lost_connection_invalidates_the_whole_pool(service: Service, superuser: Address) -> None:
    engine = service.resources.engine

    async def connect_twice() -> tuple[AsyncConnection, list[int]]:
        first, pooled = await engine.connect(), await engine.connect()
        pids = [(await fetch_row(db, "SELECT pg_backend_pid()"))[0] for db in (first, pooled)]
        await pooled.close()
        return first, pids

    async def fetch_one(db: AsyncConnection) -> object:
        try:
            return (await fetch_row(db, "SELECT 1"))[0]
        finally:
            await db.close()

    async def fetch_with_new_connection() -> object:
        return await fetch_one(await engine.connect())

    first, pids = service.run(connect_twice)
    for pid in pids:
        execute_sql(superuser, f"SELECT pg_terminate_backend({pid}, 5000)")

    with pytest.raises(DBAPIError) as caught:
        service.run(lambda: fetch_one(first))

    assert caught.value.connection_invalidated
    assert is_database_unavailable(caught.value)
    assert service.run(fetch_with_new_connection) == 1


def test_a_cancelled_statement_invalidates_its_connection(service: Service) -> None:
    engine = service.resources.engine

    async def cancel() -> bool:
        async with engine.connect() as db:
            try:
                async with asyncio.timeout(2):
                    await fetch_row(db, "SELECT pg_sleep(30)")
            except TimeoutError:
                return bool(db.invalidated)
        return False

    assert service.run(cancel)
    assert service.http.get("/readyz").status_code == 200


def test_a_violated_constraint_raises_an_integrity_error(service: Service) -> None:
    async def insert_twice() -> None:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, SET, "org_test")
            columns = "organisation_id, name, short_name"
            stmt = f"INSERT INTO organisations ({columns}) VALUES ($1, $1, $1) RETURNING name"
            for _ in range(2):
                await fetch_row(db, stmt, "org_test")

    with pytest.raises(IntegrityError):
        service.run(insert_twice)
