"""An orderly stop gives an interrupted job back and does not count the attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.jobs.runner import LONG, Job, JobPreparer, JobRunner, JobType, ReportProgress
from tests.jobs.conftest import JobDatabase

ATTEMPTS_MAX = 2


async def do_nothing(_db: AsyncConnection, _job: Job) -> None:
    return


def interrupt(job_db: JobDatabase, end: Callable[[JobRunner, asyncio.Task[None]], None]) -> None:
    """Run a job whose preparation never ends, and end the runner."""
    started = asyncio.Event()

    async def prepare(_job: Job, _report: ReportProgress) -> None:
        started.set()
        await asyncio.Event().wait()

    runner = JobRunner(job_db.engine, [build_type(prepare)])

    async def run_and_end() -> None:
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(120):
            await started.wait()
            end(runner, running)
            await asyncio.gather(running, return_exceptions=True)

    job_db.run(run_and_end())


def build_type(prepare: JobPreparer) -> JobType:
    return JobType("import", do_nothing, attempts_max=ATTEMPTS_MAX, prepare=prepare)


def stop(runner: JobRunner, _running: asyncio.Task[None]) -> None:
    runner.stop()


def cancel(_runner: JobRunner, running: asyncio.Task[None]) -> None:
    running.cancel()


def test_an_interrupted_job_runs_however_often_the_server_is_restarted(
    job_db: JobDatabase,
) -> None:
    job_id = job_db.add_job("import")

    for _ in range(ATTEMPTS_MAX + 2):
        interrupt(job_db, stop)
        row = job_db.find_job(job_id)
        assert (row.state, row.attempts, row.leased_until) == ("waiting", 0, None)

    async def prepare(_job: Job, _report: ReportProgress) -> None:
        return

    job_db.run(JobRunner(job_db.engine, [build_type(prepare)]).run_once(lane=LONG))
    assert job_db.find_job(job_id).state == "done"


def test_a_cancelled_runner_gives_its_job_back(job_db: JobDatabase) -> None:
    job_id = job_db.add_job("import")

    interrupt(job_db, cancel)

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts) == ("waiting", 0)


def test_attempts_that_failed_before_the_stop_still_count(job_db: JobDatabase) -> None:
    job_id = job_db.add_job("import")

    async def fail(_job: Job, _report: ReportProgress) -> None:
        raise ValueError

    runner = JobRunner(job_db.engine, [build_type(fail)])
    job_db.run(runner.run_now(job_db.scope, job_id))
    job_db.make_due(job_id)
    interrupt(job_db, stop)

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts) == ("waiting", 1)


def test_a_stop_without_a_database_ends_the_runner(job_db: JobDatabase) -> None:
    job_id = job_db.add_job("import")

    def stop_without_database(runner: JobRunner, _running: asyncio.Task[None]) -> None:
        runner._engine = object()  # type: ignore[assignment]  # every use of it fails
        runner.stop()

    interrupt(job_db, stop_without_database)

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts) == ("running", 1)  # the lease expires
