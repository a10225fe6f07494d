"""A database without a running service, with one organisation, and a clock that tests set."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.application.schema import MIGRATIONS
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import migrate
from nimbill.database.tenant_scope import TenantScope, create_app_engine, transaction
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.identity.organisations.records import add_organisation
from nimbill.jobs import records
from tests.temporary_database import temporary_database

T = TypeVar("T")


async def find_job(db: AsyncConnection, job_id: str) -> Any:
    stmt = sa.select(records.jobs).where(records.jobs.c.job_id == job_id)
    return (await db.execute(stmt)).one()


@dataclass
class JobDatabase:
    """An engine with its own event loop, and the jobs of one organisation."""

    loop: asyncio.AbstractEventLoop
    engine: AsyncEngine
    scope: TenantScope

    def run(self, awaitable: Awaitable[T]) -> T:
        async def await_it() -> T:
            return await awaitable

        return self.loop.run_until_complete(await_it())

    def in_transaction(self, run: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Run this in a new transaction of the organisation."""

        async def run_in_transaction() -> T:
            async with transaction(self.engine, self.scope.organisation_id) as db:
                return await run(db)

        return self.run(run_in_transaction())

    def add_organisation(self) -> TenantScope:
        scope = TenantScope(new_id("org"))

        async def add() -> None:
            async with transaction(self.engine, scope.organisation_id) as db:
                await add_organisation(db, scope, name="Test", short_name=scope.organisation_id)

        self.run(add())
        return scope

    def add_job(self, job_type: str, *, seconds: int = 0, **fields: Any) -> str:
        """Add a job that is due this many seconds from now."""
        due = clock.now() + timedelta(seconds=seconds)
        job_id = self.in_transaction(
            lambda db: records.add_job(db, self.scope, job_type, due=due, **fields)
        )
        assert job_id is not None
        return job_id

    def make_due(self, job_id: str) -> None:
        stmt = sa.update(records.jobs).where(records.jobs.c.job_id == job_id)
        self.in_transaction(lambda db: db.execute(stmt.values(due=clock.now())))

    def find_job(self, job_id: str) -> Any:
        return self.in_transaction(lambda db: find_job(db, job_id))

    def list_jobs(self) -> list[Any]:
        stmt = sa.select(records.jobs).order_by(records.jobs.c.due)

        async def list_rows(db: AsyncConnection) -> list[Any]:
            return list((await db.execute(stmt)).all())

        return self.in_transaction(list_rows)


@pytest.fixture(scope="session")
def jobs_database(postgres: Address, superuser: Address) -> Iterator[Address]:
    with temporary_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url, MIGRATIONS))
        yield address


@pytest.fixture
def job_db(jobs_database: Address) -> Iterator[JobDatabase]:
    loop = asyncio.new_event_loop()
    database = JobDatabase(loop, create_app_engine(jobs_database.url, 10), TenantScope(""))
    database.scope = database.add_organisation()
    yield database
    database.in_transaction(_delete_jobs)
    database.run(database.engine.dispose())
    loop.close()


async def _delete_jobs(db: AsyncConnection) -> None:
    await db.execute(sa.delete(records.jobs))


@dataclass
class FrozenClock:
    """The time that `clock.now` returns; it changes only by `advance`."""

    at: datetime

    def advance(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture
def frozen_clock(monkeypatch: pytest.MonkeyPatch) -> FrozenClock:
    frozen = FrozenClock(datetime(2026, 4, 1, 9, 0, tzinfo=UTC))
    monkeypatch.setattr(clock, "now", lambda: frozen.at)
    return frozen
