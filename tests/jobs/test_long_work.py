"""Work that takes long: prepared outside the transaction, beside the rest, its lease kept."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import transaction
from nimbill.foundation import clock
from nimbill.jobs import records
from nimbill.jobs.runner import LONG, SHORT, Job, JobRunner, JobType, ReportProgress
from tests.jobs.conftest import Workshop


async def do_nothing(_db: AsyncConnection, _taken: Job) -> None:
    return


def test_what_was_prepared_is_handed_over(workshop: Workshop) -> None:
    work_id = workshop.add("long", payload={"a": 1})
    met: list[Any] = []

    async def prepare(taken: Job, _tell: ReportProgress) -> int:
        return int(taken.payload["a"]) + 1

    async def do(_db: AsyncConnection, taken: Job) -> None:
        met.append(taken.prepared)

    runner = JobRunner(workshop.engine, [JobType("long", do, prepare=prepare)])

    assert workshop.run(runner.run_once(lane=SHORT)) is False
    assert workshop.run(runner.run_once(lane=LONG)) is True
    assert met == [2]
    assert workshop.row(work_id).state == "done"


def test_the_rest_does_not_wait_for_it(workshop: Workshop) -> None:
    slow, quick = workshop.add("long"), workshop.add("quick")

    async def prepare(_taken: Job, _tell: ReportProgress) -> None:
        await asyncio.Event().wait()

    kinds = [JobType("long", do_nothing, prepare=prepare), JobType("quick", do_nothing)]
    runner = JobRunner(workshop.engine, kinds)

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
    monkeypatch.setattr("nimbill.jobs.runner.TELL_EVERY_SECONDS", 0.01)
    work_id = workshop.add("long")

    async def prepare(_taken: Job, tell: ReportProgress) -> None:
        await tell({"lines": 7})
        async with asyncio.timeout(30):
            while not await _told(workshop, work_id):
                await asyncio.sleep(0.01)

    runner = JobRunner(workshop.engine, [JobType("long", do_nothing, prepare=prepare)])
    workshop.run(runner.run_once(lane=LONG))

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
    monkeypatch.setattr("nimbill.jobs.runner.TELL_EVERY_SECONDS", 0.01)
    work_id = workshop.add("long")
    ended: list[str] = []

    async def prepare(taken: Job, _tell: ReportProgress) -> None:
        async with transaction(workshop.engine, taken.scope.organisation_id) as db:
            taken_over = sa.update(records.jobs).values(attempts=records.jobs.c.attempts + 1)
            await db.execute(taken_over.where(records.jobs.c.work_id == work_id))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def do(_db: AsyncConnection, _taken: Job) -> None:
        ended.append("done")

    runner = JobRunner(workshop.engine, [JobType("long", do, prepare=prepare)])
    workshop.run(runner.run_once(lane=LONG))

    assert ended == ["cancelled"]
    assert workshop.row(work_id).state == "running"  # as the one who took it over has it


def test_what_is_given_up_is_told_once(workshop: Workshop) -> None:
    work_id = workshop.add("long")
    told: list[str] = []

    async def prepare(_taken: Job, _tell: ReportProgress) -> None:
        raise ValueError

    async def give_up(_db: AsyncConnection, taken: Job) -> None:
        told.append(taken.work_id)

    kind = JobType("long", do_nothing, attempts_max=1, prepare=prepare, give_up=give_up)
    workshop.run(JobRunner(workshop.engine, [kind]).run_once(lane=LONG))

    assert told == [work_id]
    assert workshop.row(work_id).state == "failed"


def test_a_lane_of_its_own_waits_for_no_other(workshop: Workshop) -> None:
    slow, moved = workshop.add("long"), workshop.add("move")
    quick = workshop.add("quick")

    async def prepare(taken: Job, _tell: ReportProgress) -> None:
        if taken.kind == "long":
            await asyncio.Event().wait()

    kinds = [
        JobType("long", do_nothing, prepare=prepare),
        JobType("move", do_nothing, prepare=prepare, lane="moves"),
        JobType("quick", do_nothing),
    ]
    runner = JobRunner(workshop.engine, kinds)

    async def all_three() -> None:
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(30):
            while {await _state(workshop, quick), await _state(workshop, moved)} != {"done"}:
                await asyncio.sleep(0.01)
        runner.stop()
        await running

    workshop.run(all_three())

    assert workshop.row(slow).state == "running"


def test_a_lane_takes_its_own_kinds_alone(workshop: Workshop) -> None:
    workshop.add("move")
    runner = JobRunner(workshop.engine, [JobType("move", do_nothing, lane="moves")])

    assert workshop.run(runner.run_once(lane=SHORT)) is False
    assert workshop.run(runner.run_once(lane=LONG)) is False
    assert workshop.run(runner.run_once(lane="moves")) is True


def test_what_is_not_at_its_end_says_when_to_come_back(workshop: Workshop) -> None:
    workshop.add("move", subject="one")
    later = clock.now() + timedelta(hours=1)

    async def do(_db: AsyncConnection, _taken: Job) -> datetime:
        return later

    workshop.run(JobRunner(workshop.engine, [JobType("move", do)]).run_once())

    rows = [(row.subject, row.state, row.attempts) for row in workshop.rows()]
    assert sorted(rows) == [("one", "done", 1), ("one", "waiting", 0)]
    assert {row.due for row in workshop.rows() if row.state == "waiting"} == {later}
