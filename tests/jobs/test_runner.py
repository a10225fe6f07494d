"""The job runner: each job once, retries, final failure, recurring jobs."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from structlog.testing import capture_logs

from nimbill.database.tenant_scope import transaction
from nimbill.foundation import clock
from nimbill.jobs import records
from nimbill.jobs.runner import ATTEMPTS_MAX, LEASE, LONG, Job, JobHandler, JobRunner, JobType
from tests.jobs.conftest import FrozenClock, JobDatabase, find_job
from tests.problem_responses import CANARY


class ProcessKilled(BaseException):
    """Ends a runner at once, like SIGKILL: nothing more is stored."""


async def do_nothing(_db: AsyncConnection, _job: Job) -> None:
    return


async def fail(_db: AsyncConnection, _job: Job) -> None:
    raise ValueError(CANARY)


def build_runner(
    job_db: JobDatabase, run: JobHandler = do_nothing, every: timedelta | None = None
) -> JobRunner:
    return JobRunner(job_db.engine, [JobType("kind", run, every)])


def run_once(job_db: JobDatabase, runner: JobRunner) -> bool:
    return job_db.run(runner.run_once())


def test_the_handler_receives_the_stored_job(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("kind", subject="subject", payload={"a": [1, "名"]})
    received: list[Job] = []

    async def run(_db: AsyncConnection, job: Job) -> None:
        received.append(job)

    assert run_once(job_db, build_runner(job_db, run)) is True

    assert received == [
        Job(job_db.scope, job_id, "kind", "subject", {"a": [1, "名"]}, {}, attempt=1)
    ]
    assert job_db.find_job(job_id).state == "done"
    assert job_db.find_job(job_id).leased_until is None


def test_nothing_runs_when_no_job_is_due(job_db: JobDatabase, frozen_clock: FrozenClock) -> None:
    job_db.add_job("kind", seconds=1)

    assert run_once(job_db, build_runner(job_db)) is False


def test_one_job_of_every_organisation_runs_per_pass(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    other = job_db.add_organisation()
    job_db.add_job("kind")

    async def add() -> None:
        async with transaction(job_db.engine, other.organisation_id) as db:
            await records.add_job(db, other, "kind", due=clock.now())

    job_db.run(add())
    runs = Counter[str]()

    async def run(_db: AsyncConnection, job: Job) -> None:
        runs[job.scope.organisation_id] += 1

    run_once(job_db, build_runner(job_db, run))

    assert runs[job_db.scope.organisation_id] == runs[other.organisation_id] == 1


def test_a_stopped_runner_starts_no_further_job(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    other = job_db.add_organisation()
    started: list[str] = []

    async def run(_db: AsyncConnection, job: Job) -> None:
        started.append(job.scope.organisation_id)
        runner.stop()

    async def add() -> None:
        for scope in (job_db.scope, other):
            async with transaction(job_db.engine, scope.organisation_id) as db:
                await records.add_job(db, scope, "kind", due=clock.now())

    runner = build_runner(job_db, run)
    job_db.run(add())

    assert run_once(job_db, runner) is True
    assert len(started) == 1
    # the other job is left for the next runner
    assert run_once(job_db, build_runner(job_db)) is True


def test_several_runners_run_each_job_exactly_once(job_db: JobDatabase) -> None:
    ids = {job_db.add_job("kind") for _ in range(30)}
    done = Counter[str]()

    async def run(_db: AsyncConnection, job: Job) -> None:
        await asyncio.sleep(0.002)
        done[job.job_id] += 1

    async def run_until_idle(runner: JobRunner) -> None:
        idle = 0
        while idle < 3:
            idle = 0 if await runner.run_once() else idle + 1
            await asyncio.sleep(0.001)

    async def run_all() -> None:
        runners = [build_runner(job_db, run) for _ in range(4)]
        await asyncio.gather(*(run_until_idle(runner) for runner in runners))

    job_db.run(run_all())

    assert done == dict.fromkeys(ids, 1)
    assert {row.state for row in job_db.list_jobs()} == {"done"}


def test_the_effect_and_the_completion_are_committed_together(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("kind")
    rename = sa.text("UPDATE organisations SET name = 'changed'")
    must_fail = [True]

    async def run(db: AsyncConnection, _job: Job) -> None:
        await db.execute(rename)
        if must_fail[0]:
            raise ValueError

    async def load_name(db: AsyncConnection) -> str:
        return str((await db.execute(sa.text("SELECT name FROM organisations"))).scalar_one())

    run_once(job_db, build_runner(job_db, run))
    assert job_db.in_transaction(load_name) == "Test"
    assert job_db.find_job(job_id).state == "waiting"

    must_fail[0] = False
    frozen_clock.advance(hours=1)
    run_once(job_db, build_runner(job_db, run))
    assert job_db.in_transaction(load_name) == "changed"
    assert job_db.find_job(job_id).state == "done"


def test_retries_back_off_exponentially(job_db: JobDatabase, frozen_clock: FrozenClock) -> None:
    job_id, runner = job_db.add_job("kind"), build_runner(job_db, fail)
    pauses = []

    for attempt in range(1, ATTEMPTS_MAX):
        assert run_once(job_db, runner) is True
        row = job_db.find_job(job_id)
        assert (row.state, row.attempts, row.reason) == ("waiting", attempt, "ValueError")
        pauses.append((row.due - frozen_clock.at).total_seconds())
        assert run_once(job_db, runner) is False, "the retry is not due yet"
        frozen_clock.at = row.due

    assert pauses == sorted(pauses)
    assert pauses[:4] == [2, 4, 8, 16]
    assert max(pauses) <= 600


def test_a_job_fails_after_the_last_attempt(job_db: JobDatabase, frozen_clock: FrozenClock) -> None:
    job_id, runner = job_db.add_job("kind"), build_runner(job_db, fail)

    for _ in range(ATTEMPTS_MAX):
        run_once(job_db, runner)
        frozen_clock.advance(hours=1)

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts, row.reason) == ("failed", ATTEMPTS_MAX, "ValueError")
    assert run_once(job_db, runner) is False


@pytest.mark.parametrize("attempts", [2, ATTEMPTS_MAX + 3])
def test_a_job_type_sets_its_own_number_of_attempts(
    job_db: JobDatabase, frozen_clock: FrozenClock, attempts: int
) -> None:
    job_id = job_db.add_job("kind")
    runner = JobRunner(job_db.engine, [JobType("kind", fail, attempts_max=attempts)])

    for _ in range(attempts + 2):
        run_once(job_db, runner)
        frozen_clock.advance(hours=1)

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts) == ("failed", attempts)


def test_a_failure_is_logged_and_stored_without_values(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("kind", payload={"secret": CANARY})

    with capture_logs() as lines:
        run_once(job_db, build_runner(job_db, fail))

    # other services of this process may log, too
    (line,) = [line for line in lines if line.get("job_id") == job_id]
    assert (line["event"], line["job_type"], line["attempt"]) == ("job_failed", "kind", 1)
    assert isinstance(line.pop("exc_info"), ValueError)  # the log formatter omits its message
    assert CANARY not in repr(line)
    assert CANARY not in job_db.find_job(job_id).reason


def test_a_recurring_job_is_scheduled_again_after_each_run(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_db.add_job("kind", subject="maintenance")
    runner = build_runner(job_db, every=timedelta(hours=1))

    for turn in range(1, 4):
        assert run_once(job_db, runner) is True
        assert run_once(job_db, runner) is False
        rows = job_db.list_jobs()
        assert [row.state for row in rows] == ["done"] * turn + ["waiting"]
        assert rows[-1].due == frozen_clock.at + timedelta(hours=1)
        assert (rows[-1].subject, rows[-1].attempts) == ("maintenance", 0)
        frozen_clock.advance(hours=1)


def test_a_recurring_job_is_always_retried(job_db: JobDatabase, frozen_clock: FrozenClock) -> None:
    job_id = job_db.add_job("kind", subject="maintenance")
    runner = build_runner(job_db, fail, every=timedelta(hours=1))

    for _ in range(ATTEMPTS_MAX + 3):
        run_once(job_db, runner)
        frozen_clock.advance(hours=1)

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts) == ("waiting", ATTEMPTS_MAX + 3)


def test_a_job_of_unknown_type_is_retried_and_then_fails(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("from a newer version")

    run_once(job_db, build_runner(job_db))
    first = job_db.find_job(job_id)
    for _ in range(ATTEMPTS_MAX):
        frozen_clock.advance(hours=1)
        run_once(job_db, build_runner(job_db))

    assert (first.state, first.reason) == ("waiting", "LookupError")
    assert job_db.find_job(job_id).state == "failed"


def test_losing_the_lease_rolls_the_effect_back(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("kind")
    rename = sa.text("UPDATE organisations SET name = 'by the slow runner'")

    async def slow(db: AsyncConnection, job: Job) -> None:
        await db.execute(rename)
        frozen_clock.advance(seconds=LEASE.total_seconds() + 1)
        async with transaction(job_db.engine, job.scope.organisation_id) as another:
            claimed = await records.claim_job(another, job.scope, at=clock.now(), lease=LEASE)
        assert claimed is not None

    run_once(job_db, build_runner(job_db, slow))

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts, row.reason) == ("running", 2, None)

    async def load_name(db: AsyncConnection) -> str:
        return str((await db.execute(sa.text("SELECT name FROM organisations"))).scalar_one())

    assert job_db.in_transaction(load_name) == "Test"


def test_the_lease_of_a_slow_job_is_renewed(
    job_db: JobDatabase, frozen_clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.jobs.runner.LEASE_RENEWAL_SECONDS", 0.01)
    job_id = job_db.add_job("kind")

    async def leased_until() -> datetime:
        async with transaction(job_db.engine, job_db.scope.organisation_id) as another:
            row = await find_job(another, job_id)
            lease_end: datetime = row.leased_until
            return lease_end

    async def run(_db: AsyncConnection, job: Job) -> None:
        async with asyncio.timeout(60):
            for _ in range(3):
                frozen_clock.advance(seconds=LEASE.total_seconds() / 2)
                while await leased_until() < clock.now() + LEASE:
                    await asyncio.sleep(0.01)
        async with transaction(job_db.engine, job.scope.organisation_id) as another:
            assert not await records.claim_job(another, job.scope, at=clock.now(), lease=LEASE)

    run_once(job_db, build_runner(job_db, run))

    assert job_db.find_job(job_id).state == "done"
    assert job_db.find_job(job_id).attempts == 1


def test_the_job_of_a_dead_runner_is_run_by_another(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("kind")

    async def die(_db: AsyncConnection, _job: Job) -> None:
        raise ProcessKilled

    with pytest.raises(ProcessKilled):
        run_once(job_db, build_runner(job_db, die))
    assert job_db.find_job(job_id).state == "running"
    assert run_once(job_db, build_runner(job_db)) is False

    frozen_clock.advance(seconds=LEASE.total_seconds() + 1)

    assert run_once(job_db, build_runner(job_db)) is True
    assert (job_db.find_job(job_id).state, job_db.find_job(job_id).attempts) == ("done", 2)


def test_the_loop_runs_due_jobs_until_stopped(job_db: JobDatabase) -> None:
    job_db.add_job("kind")
    runner = build_runner(job_db)

    async def loop() -> None:
        running = asyncio.create_task(runner.run())
        async with asyncio.timeout(120):
            while await _states(job_db) != ["done"]:
                await asyncio.sleep(0.02)
            runner.stop()
            await running

    job_db.run(loop())


async def _states(job_db: JobDatabase) -> list[str]:
    async with transaction(job_db.engine, job_db.scope.organisation_id) as db:
        return list((await db.execute(sa.select(records.jobs.c.state))).scalars())


def test_an_unavailable_database_does_not_end_the_loop(
    job_db: JobDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.jobs.runner.POLL_SECONDS", 0.01)
    runner, raised = build_runner(job_db), [ConnectionError(), OSError(), ValueError("a bug")]
    failures = raised.copy()

    async def fail_first(*, lane: str) -> bool:
        if lane == LONG:
            return False
        if failures:
            raise failures.pop(0)
        runner.stop()
        return False

    monkeypatch.setattr(runner, "run_once", fail_first)
    with capture_logs() as lines:
        job_db.run(asyncio.wait_for(runner.run(), 120))

    assert failures == []
    logged = [line for line in lines if line.get("exc_info") in raised]
    assert [(line["event"], line["exc_info"]) for line in logged] == [
        ("job_loop_failed", raised[-1])
    ]
