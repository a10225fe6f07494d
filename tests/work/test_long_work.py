"""Work that takes long: prepared outside the transaction, beside the rest, its lease kept."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill import clock
from nimbill.storage import transaction
from nimbill.work import records
from nimbill.work.runner import Kind, Runner, Taken, Tell
from tests.work.conftest import Workshop


async def do_nothing(_db: AsyncConnection, _taken: Taken) -> None:
    return


def test_what_was_prepared_is_handed_over(workshop: Workshop) -> None:
    work_id = workshop.add("long", payload={"a": 1})
    met: list[Any] = []

    async def prepare(taken: Taken, _tell: Tell) -> int:
        return int(taken.payload["a"]) + 1

    async def do(_db: AsyncConnection, taken: Taken) -> None:
        met.append(taken.prepared)

    runner = Runner(workshop.engine, [Kind("long", do, prepare=prepare)])

    assert workshop.run(runner.run_once(long=False)) is False
    assert workshop.run(runner.run_once(long=True)) is True
    assert met == [2]
    assert workshop.row(work_id).state == "done"


def test_the_rest_does_not_wait_for_it(workshop: Workshop) -> None:
    slow, quick = workshop.add("long"), workshop.add("quick")

    async def prepare(_taken: Taken, _tell: Tell) -> None:
        await asyncio.Event().wait()

    kinds = [Kind("long", do_nothing, prepare=prepare), Kind("quick", do_nothing)]
    runner = Runner(workshop.engine, kinds)

    async def both() -> None:
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(30):
            while await _state(workshop, quick) != "done":
                await asyncio.sleep(0.01)
        runner.stop()
        await running

    workshop.run(both())

    assert workshop.row(slow).state == "running"  # for whoever takes it when its lease is over


async def _state(workshop: Workshop, work_id: str) -> str:
    async with transaction(workshop.engine, workshop.scope.organisation_id) as db:
        row = await records.find_work(db, workshop.scope, work_id)
    assert row is not None
    return str(row.state)


def test_progress_is_kept_and_so_is_the_lease(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.work.runner.TELL_EVERY_SECONDS", 0.01)
    work_id = workshop.add("long")

    async def prepare(_taken: Taken, tell: Tell) -> None:
        await tell({"lines": 7})
        async with asyncio.timeout(30):
            while not await _told(workshop, work_id):
                await asyncio.sleep(0.01)

    runner = Runner(workshop.engine, [Kind("long", do_nothing, prepare=prepare)])
    workshop.run(runner.run_once(long=True))

    row = workshop.row(work_id)
    assert (row.state, row.progress) == ("done", {"lines": 7})


async def _told(workshop: Workshop, work_id: str) -> bool:
    async with transaction(workshop.engine, workshop.scope.organisation_id) as db:
        row = await records.find_work(db, workshop.scope, work_id)
    assert row is not None
    return bool(row.progress) and row.lease_until > clock.now()


def test_whoever_lost_the_lease_stops_preparing_and_changes_nothing(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.work.runner.TELL_EVERY_SECONDS", 0.01)
    work_id = workshop.add("long")
    ended: list[str] = []

    async def prepare(taken: Taken, _tell: Tell) -> None:
        async with transaction(workshop.engine, taken.scope.organisation_id) as db:
            taken_over = sa.update(records.work).values(attempts=records.work.c.attempts + 1)
            await db.execute(taken_over.where(records.work.c.work_id == work_id))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def do(_db: AsyncConnection, _taken: Taken) -> None:
        ended.append("done")

    runner = Runner(workshop.engine, [Kind("long", do, prepare=prepare)])
    workshop.run(runner.run_once(long=True))

    assert ended == ["cancelled"]
    assert workshop.row(work_id).state == "running"  # as the one who took it over has it


def test_what_is_given_up_is_told_once(workshop: Workshop) -> None:
    work_id = workshop.add("long")
    told: list[str] = []

    async def prepare(_taken: Taken, _tell: Tell) -> None:
        raise ValueError

    async def give_up(_db: AsyncConnection, taken: Taken) -> None:
        told.append(taken.work_id)

    kind = Kind("long", do_nothing, attempts_max=1, prepare=prepare, give_up=give_up)
    workshop.run(Runner(workshop.engine, [kind]).run_once(long=True))

    assert told == [work_id]
    assert workshop.row(work_id).state == "failed"
