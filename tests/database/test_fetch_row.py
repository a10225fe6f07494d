"""Questions in the driver's own words: in the same transaction, refused and lost like any other."""

import asyncio

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import fetch_row, is_database_unavailable
from tests.own_database import sql
from tests.running_service import Service

ORGANISATION = "SELECT current_setting('nimbill.organisation', true)"
SET = "SELECT set_config('nimbill.organisation', $1, true)"


def test_it_is_asked_in_the_transaction_of_the_connection(service: Service) -> None:
    async def said_then_after_rollback() -> list[str | None]:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, SET, "org_test")
            said = (await db.execute(sa.text(ORGANISATION))).scalar_one()
            await db.rollback()
            return [said, (await db.execute(sa.text(ORGANISATION))).scalar_one()]

    assert service.run(said_then_after_rollback) == ["org_test", ""]


def test_what_it_changes_is_committed_with_the_rest(service: Service) -> None:
    async def kept() -> object:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, "SELECT set_config('nimbill.test', $1, false)", "kept")
            await db.commit()
            said = (await db.execute(sa.text("SELECT current_setting('nimbill.test')"))).scalar()
            await db.invalidate()
            return said

    assert service.run(kept) == "kept"


def test_no_row_is_none(service: Service) -> None:
    async def asked() -> object:
        async with service.resources.engine.connect() as db:
            return await fetch_row(db, "SELECT 1 WHERE $1::text IS NULL", "something")

    assert service.run(asked) is None


def test_a_refusal_of_the_database_has_its_code_and_not_the_values(service: Service) -> None:
    async def refused() -> None:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, "SELECT 1 / length($1::text) - 1 / 0", "canary")

    with pytest.raises(DBAPIError) as caught:
        service.run(refused)

    assert getattr(caught.value.orig, "sqlstate", None) == "22012"  # division by zero
    assert not caught.value.connection_invalidated
    assert "canary" not in str(caught.value)


def test_a_lost_connection_is_known_to_be_lost_and_so_are_its_neighbours(
    service: Service, superuser: Address
) -> None:
    engine = service.resources.engine

    async def two() -> tuple[AsyncConnection, list[int]]:
        one, other = await engine.connect(), await engine.connect()
        pids = [(await fetch_row(db, "SELECT pg_backend_pid()"))[0] for db in (one, other)]
        await other.close()
        return one, pids

    async def ask(db: AsyncConnection) -> object:
        try:
            return (await fetch_row(db, "SELECT 1"))[0]
        finally:
            await db.close()

    async def ask_afresh() -> object:
        return await ask(await engine.connect())

    one, pids = service.run(two)
    for pid in pids:
        sql(superuser, f"SELECT pg_terminate_backend({pid}, 5000)")
    with pytest.raises(DBAPIError) as caught:
        service.run(lambda: ask(one))

    assert caught.value.connection_invalidated
    assert is_database_unavailable(caught.value)
    assert service.run(ask_afresh) == 1


def test_a_question_given_up_half_way_leaves_no_connection_behind(service: Service) -> None:
    engine = service.resources.engine

    async def given_up() -> bool:
        async with engine.connect() as db:
            try:
                async with asyncio.timeout(0.2):
                    await fetch_row(db, "SELECT pg_sleep(30)")
            except TimeoutError:
                return bool(db.invalidated)
        return False

    assert service.run(given_up)
    assert service.http.get("/readyz").status_code == 200


def test_a_broken_constraint_is_told_as_such(service: Service) -> None:
    async def twice() -> None:
        async with service.resources.engine.connect() as db:
            await fetch_row(db, SET, "org_test")
            columns = "organisation_id, name, short_name"
            add = f"INSERT INTO organisations ({columns}) VALUES ($1, $1, $1) RETURNING name"
            for _ in range(2):
                await fetch_row(db, add, "org_test")

    with pytest.raises(IntegrityError):
        service.run(twice)
