"""A database whose work no running service takes, an organisation in it, and a clock to set."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import migrate
from nimbill.database.tenant_scope import TenantScope, engine_for, transaction
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.identity.organisations.records import add_organisation
from nimbill.jobs import records
from tests.own_database import own_database

T = TypeVar("T")


@dataclass
class Workshop:
    """An engine in an event loop of its own, and one organisation's work."""

    loop: asyncio.AbstractEventLoop
    engine: AsyncEngine
    scope: TenantScope

    def run(self, doing: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await doing

        return self.loop.run_until_complete(awaited())

    def ask(self, question: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """In a transaction of its own on the organisation's rows."""

        async def asked() -> T:
            async with transaction(self.engine, self.scope.organisation_id) as db:
                return await question(db)

        return self.run(asked())

    def new_scope(self) -> TenantScope:
        scope = TenantScope(new_id("org"))

        async def add() -> None:
            async with transaction(self.engine, scope.organisation_id) as db:
                await add_organisation(db, scope, name="Test", short=scope.organisation_id)

        self.run(add())
        return scope

    def add(self, kind: str, *, seconds: int = 0, **fields: Any) -> str:
        """Work due so many seconds from now."""
        due = clock.now() + timedelta(seconds=seconds)
        work_id = self.ask(lambda db: records.add_job(db, self.scope, kind, due=due, **fields))
        assert work_id is not None
        return work_id

    def row(self, work_id: str) -> Any:
        return self.ask(lambda db: records.find_work(db, self.scope, work_id))

    def rows(self) -> list[Any]:
        question = sa.select(records.jobs).order_by(records.jobs.c.due)

        async def ask(db: AsyncConnection) -> list[Any]:
            return list((await db.execute(question)).all())

        return self.ask(ask)


@pytest.fixture(scope="session")
def work_database(postgres: Address, superuser: Address) -> Iterator[Address]:
    with own_database(postgres, superuser) as address:
        asyncio.run(migrate(address.url))
        yield address


@pytest.fixture
def workshop(work_database: Address) -> Iterator[Workshop]:
    loop = asyncio.new_event_loop()
    shop = Workshop(loop, engine_for(work_database.url, 10), TenantScope(""))
    shop.scope = shop.new_scope()
    yield shop
    shop.ask(_leave_nothing_due)
    shop.run(shop.engine.dispose())
    loop.close()


async def _leave_nothing_due(db: AsyncConnection) -> None:
    await db.execute(sa.delete(records.jobs))


@dataclass
class Clock:
    """The time as every module asks for it; it stands still until it is told to go on."""

    at: datetime

    def go_on(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch) -> Clock:
    stopped = Clock(datetime(2026, 4, 1, 9, 0, tzinfo=UTC))
    monkeypatch.setattr(clock, "now", lambda: stopped.at)
    return stopped
