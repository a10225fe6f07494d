"""Long jobs: preparation outside the transaction, a renewed lease, separate lanes."""

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
from tests.jobs.conftest import JobDatabase, find_job


async def do_nothing(_db: AsyncConnection, _job: Job) -> None:
    return


def test_the_handler_receives_the_prepared_value(job_db: JobDatabase) -> None:
    job_id = job_db.add_job("long", payload={"a": 1})
    received: list[Any] = []

    async def prepare(job: Job, _report: ReportProgress) -> int:
        return int(job.payload["a"]) + 1

    async def run(_db: AsyncConnection, job: Job) -> None:
        received.append(job.prepared)

    runner = JobRunner(job_db.engine, [JobType("long", run, prepare=prepare)])

    assert job_db.run(runner.run_next(job_db.scope, lane=SHORT)) is False
    assert job_db.run(runner.run_next(job_db.scope, lane=LONG)) is True
    assert received == [2]
    assert job_db.find_job(job_id).state == "done"


def test_short_jobs_do_not_wait_for_a_long_one(job_db: JobDatabase) -> None:
    slow, quick = job_db.add_job("long"), job_db.add_job("quick")

    async def prepare(_job: Job, _report: ReportProgress) -> None:
        await asyncio.Event().wait()

    job_types = [JobType("long", do_nothing, prepare=prepare), JobType("quick", do_nothing)]
    runner = JobRunner(job_db.engine, job_types)

    async def run_until_quick_is_done() -> None:
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(120):
            while await _state(job_db, quick) != "done":
                await asyncio.sleep(0.01)
        runner.stop()
        await running

    job_db.run(run_until_quick_is_done())

    assert job_db.find_job(slow).state == "waiting"  # interrupted; the next runner starts it again


async def _state(job_db: JobDatabase, job_id: str) -> str:
    async with transaction(job_db.engine, job_db.scope.organisation_id) as db:
        row = await find_job(db, job_id)
    return str(row.state)


def test_preparation_stores_progress_and_renews_the_lease(
    job_db: JobDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.jobs.runner.PROGRESS_SECONDS", 0.01)
    job_id = job_db.add_job("long")

    async def prepare(_job: Job, report: ReportProgress) -> None:
        await report({"lines": 7})
        async with asyncio.timeout(120):
            while not await _has_progress_and_lease(job_db, job_id):
                await asyncio.sleep(0.01)

    runner = JobRunner(job_db.engine, [JobType("long", do_nothing, prepare=prepare)])
    job_db.run(runner.run_next(job_db.scope, lane=LONG))

    row = job_db.find_job(job_id)
    assert (row.state, row.progress) == ("done", {"lines": 7})


async def _has_progress_and_lease(job_db: JobDatabase, job_id: str) -> bool:
    async with transaction(job_db.engine, job_db.scope.organisation_id) as db:
        row = await find_job(db, job_id)
    return bool(row.progress) and row.leased_until > clock.now()


def test_losing_the_lease_cancels_the_preparation(
    job_db: JobDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.jobs.runner.PROGRESS_SECONDS", 0.01)
    job_id = job_db.add_job("long")
    ended: list[str] = []

    async def prepare(job: Job, _report: ReportProgress) -> None:
        async with transaction(job_db.engine, job.scope.organisation_id) as db:
            claim_elsewhere = sa.update(records.jobs).values(attempts=records.jobs.c.attempts + 1)
            await db.execute(claim_elsewhere.where(records.jobs.c.job_id == job_id))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def run(_db: AsyncConnection, _job: Job) -> None:
        ended.append("done")

    runner = JobRunner(job_db.engine, [JobType("long", run, prepare=prepare)])
    job_db.run(runner.run_next(job_db.scope, lane=LONG))

    assert ended == ["cancelled"]
    assert job_db.find_job(job_id).state == "running"  # by the process that claimed it


def test_on_failure_runs_once_after_the_last_attempt(job_db: JobDatabase) -> None:
    job_id = job_db.add_job("long")
    failed_ids: list[str] = []

    async def prepare(_job: Job, _report: ReportProgress) -> None:
        raise ValueError

    async def on_failure(_db: AsyncConnection, job: Job) -> None:
        failed_ids.append(job.job_id)

    job_type = JobType("long", do_nothing, attempts_max=1, prepare=prepare, on_failure=on_failure)
    job_db.run(JobRunner(job_db.engine, [job_type]).run_once(lane=LONG))

    assert failed_ids == [job_id]
    assert job_db.find_job(job_id).state == "failed"


def test_a_separate_lane_does_not_wait_for_the_others(job_db: JobDatabase) -> None:
    slow, moved = job_db.add_job("long"), job_db.add_job("move")
    quick = job_db.add_job("quick")

    async def prepare(job: Job, _report: ReportProgress) -> None:
        if job.job_type == "long":
            await asyncio.Event().wait()

    job_types = [
        JobType("long", do_nothing, prepare=prepare),
        JobType("move", do_nothing, prepare=prepare, lane="moves"),
        JobType("quick", do_nothing),
    ]
    runner = JobRunner(job_db.engine, job_types)

    async def run_until_both_are_done() -> None:
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(120):
            while {await _state(job_db, quick), await _state(job_db, moved)} != {"done"}:
                await asyncio.sleep(0.01)
        runner.stop()
        await running

    job_db.run(run_until_both_are_done())

    assert job_db.find_job(slow).state == "waiting"


def test_a_lane_claims_only_its_own_job_types(job_db: JobDatabase) -> None:
    job_db.add_job("move")
    runner = JobRunner(job_db.engine, [JobType("move", do_nothing, lane="moves")])

    assert job_db.run(runner.run_next(job_db.scope, lane=SHORT)) is False
    assert job_db.run(runner.run_next(job_db.scope, lane=LONG)) is False
    assert job_db.run(runner.run_next(job_db.scope, lane="moves")) is True


def test_a_handler_that_returns_a_time_schedules_the_next_job(job_db: JobDatabase) -> None:
    job_db.add_job("move", subject="one")
    later = clock.now() + timedelta(hours=1)

    async def run(_db: AsyncConnection, _job: Job) -> datetime:
        return later

    job_db.run(JobRunner(job_db.engine, [JobType("move", run)]).run_once())

    rows = [(row.subject, row.state, row.attempts) for row in job_db.list_jobs()]
    assert sorted(rows) == [("one", "done", 1), ("one", "waiting", 0)]
    assert {row.due for row in job_db.list_jobs() if row.state == "waiting"} == {later}
