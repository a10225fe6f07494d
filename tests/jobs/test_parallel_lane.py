"""Jobs that wait for other servers run at the same time, with a limit for each organisation."""

from __future__ import annotations

import asyncio
from collections import Counter

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.jobs import parallel_lane
from nimbill.jobs.parallel_lane import TASKS_MAX, TASKS_OF_ORGANISATION_MAX, ParallelLane
from nimbill.jobs.runner import PARALLEL, Job, JobRunner, JobType, ReportProgress
from tests.jobs.conftest import JobDatabase


class SlowServers:
    """Jobs that wait until the test ends them."""

    def __init__(self) -> None:
        self.running: Counter[str] = Counter()
        self.done = asyncio.Event()

    async def run_next(self, scope: TenantScope) -> bool:
        self.running[scope.organisation_id] += 1
        try:
            await self.done.wait()
        finally:
            self.running[scope.organisation_id] -= 1
        return False


async def start_and_yield(lane: ParallelLane, *organisation_ids: str) -> None:
    lane.start(organisation_ids)
    await asyncio.sleep(0)


def test_an_organisation_has_a_limited_number_of_tasks() -> None:
    async def run() -> None:
        servers = SlowServers()
        lane = ParallelLane(servers.run_next)
        for _ in range(TASKS_OF_ORGANISATION_MAX + 2):
            await start_and_yield(lane, "a")
        assert servers.running["a"] == TASKS_OF_ORGANISATION_MAX
        await start_and_yield(lane, "a", "b")
        assert servers.running["b"] == 1
        await lane.stop()
        assert servers.running.total() == 0

    asyncio.run(run())


def test_a_crowded_lane_leaves_each_organisation_one_task() -> None:
    async def run() -> None:
        servers = SlowServers()
        lane = ParallelLane(servers.run_next)
        many = [f"o{number}" for number in range(TASKS_MAX + 10)]
        await start_and_yield(lane, *many[: TASKS_MAX // 2])
        await start_and_yield(lane, *many)
        assert max(servers.running.values()) == 1
        assert servers.running.total() == TASKS_MAX
        await lane.stop()

    asyncio.run(run())


def test_the_organisation_whose_turn_was_longest_ago_comes_first() -> None:
    async def run() -> None:
        servers = SlowServers()
        lane = ParallelLane(servers.run_next)
        many = [f"o{number}" for number in range(TASKS_MAX + 1)]
        await start_and_yield(lane, *many)
        assert servers.running[many[-1]] == 0
        servers.done.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        servers.done.clear()
        await start_and_yield(lane, *many)
        assert servers.running[many[-1]] == 1
        await lane.stop()

    asyncio.run(run())


def test_a_task_runs_one_job_after_the_other_and_survives_an_error() -> None:
    async def run() -> None:
        results: list[bool | Exception] = [True, True, RuntimeError(), True, False]

        async def run_next(_scope: TenantScope) -> bool:
            result = results.pop(0)
            if isinstance(result, Exception):
                raise result
            return result

        lane = ParallelLane(run_next)
        for _ in range(2):
            lane.start(["a"])
            while lane._running:
                await asyncio.sleep(0)
        assert results == []

    asyncio.run(run())


def test_a_runner_runs_jobs_of_several_organisations_at_once(job_db: JobDatabase) -> None:
    """The first job ends only after the second one has begun."""
    other = job_db.add_organisation()
    begun: set[str] = set()
    both = asyncio.Event()

    async def meet(job: Job, _report: ReportProgress) -> None:
        begun.add(job.scope.organisation_id)
        if len(begun) == 2:
            both.set()
        await both.wait()

    async def finish(_db: AsyncConnection, _job: Job) -> None:
        runner.stop()

    runner = JobRunner(job_db.engine, [JobType("slow", finish, prepare=meet, lane=PARALLEL)])
    job_db.add_job("slow")
    first, job_db.scope = job_db.scope, other
    job_db.add_job("slow")
    job_db.scope = first

    job_db.run(runner.run())

    assert begun == {first.organisation_id, other.organisation_id}


def test_a_stopped_runner_gives_its_jobs_back(job_db: JobDatabase) -> None:
    job_id = job_db.add_job("slow")

    async def wait(_job: Job, _report: ReportProgress) -> None:
        runner.stop()
        await asyncio.Event().wait()

    async def finish(_db: AsyncConnection, _job: Job) -> None:
        raise AssertionError("interrupted before")

    runner = JobRunner(job_db.engine, [JobType("slow", finish, prepare=wait, lane=PARALLEL)])
    job_db.run(runner.run())

    row = job_db.find_job(job_id)
    assert (row.state, row.attempts) == ("waiting", 0)


def test_the_share_of_an_organisation_is_smaller_than_the_lane() -> None:
    assert parallel_lane.TASKS_OF_ORGANISATION_MAX * 4 <= parallel_lane.TASKS_MAX
