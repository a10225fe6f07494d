"""Jobs whose process dies every time fail; of some types one job per organisation runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation import clock
from nimbill.jobs import records
from nimbill.jobs.runner import LONG, Job, JobRunner, JobType, ReportProgress
from tests.held_locks import call_while_locked, in_transaction
from tests.jobs.conftest import FrozenClock, JobDatabase
from tests.running_service import Service

LEASE = timedelta(seconds=60)
IMPORT = "import"


def claim(job_db: JobDatabase, scope: TenantScope | None = None) -> Any:
    tenant = scope or job_db.scope

    async def claim_job() -> Any:
        async with transaction(job_db.engine, tenant.organisation_id) as db:
            return await records.claim_job(
                db, tenant, at=clock.now(), lease=LEASE, one_at_a_time=[IMPORT]
            )

    return job_db.run(claim_job())


async def do_nothing(_db: AsyncConnection, _job: Job) -> None:
    return


def test_a_job_whose_process_dies_every_time_fails(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job(IMPORT)
    prepared: list[str] = []
    failed: list[str] = []

    async def prepare(job: Job, _report: ReportProgress) -> None:
        prepared.append(job.job_id)

    async def on_failure(_db: AsyncConnection, job: Job) -> None:
        failed.append(job.job_id)

    job_type = JobType(IMPORT, do_nothing, attempts_max=2, prepare=prepare, on_failure=on_failure)
    for _ in range(2):  # the process that claims it dies
        assert claim(job_db).job_id == job_id
        frozen_clock.advance(seconds=61)
    runner = JobRunner(job_db.engine, [job_type])

    assert job_db.run(runner.run_once(lane=LONG)) is True

    row = job_db.find_job(job_id)
    assert (row.state, row.reason) == ("failed", "ProcessDied")
    assert (prepared, failed) == ([], [job_id])
    assert job_db.run(runner.run_once(lane=LONG)) is False


def test_the_last_attempt_is_still_run(job_db: JobDatabase, frozen_clock: FrozenClock) -> None:
    job_id = job_db.add_job(IMPORT)
    claim(job_db)
    frozen_clock.advance(seconds=61)

    runner = JobRunner(job_db.engine, [JobType(IMPORT, do_nothing, attempts_max=2)])
    job_db.run(runner.run_once())

    assert job_db.find_job(job_id).state == "done"


def test_a_recurring_job_is_repeated_however_often_its_process_died(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("daily")
    for _ in range(3):
        claim(job_db)
        frozen_clock.advance(seconds=61)

    job_type = JobType("daily", do_nothing, attempts_max=2, every=timedelta(days=1))
    job_db.run(JobRunner(job_db.engine, [job_type]).run_once())

    assert job_db.find_job(job_id).state == "done"


def test_one_import_of_an_organisation_runs_and_the_others_wait(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    first, second = job_db.add_job(IMPORT, seconds=-2), job_db.add_job(IMPORT, seconds=-1)
    mail = job_db.add_job("mail")

    assert claim(job_db).job_id == first
    assert claim(job_db).job_id == mail, "other types do not wait"
    assert claim(job_db) is None

    job_db.in_transaction(
        lambda db: records.complete_job(db, job_db.scope, first, attempt=1, at=frozen_clock.at)
    )
    assert claim(job_db).job_id == second


def test_claims_of_imports_wait_for_a_claim_that_is_under_way(service: Service) -> None:
    """Otherwise both would find that no other import runs."""
    next_year = clock.now() + timedelta(days=365)  # the service itself does not run these jobs

    async def add_two(db: AsyncConnection, scope: TenantScope) -> None:
        for _ in range(2):
            await records.add_job(db, scope, IMPORT, due=next_year)

    def claim_in_turn(db: AsyncConnection, scope: TenantScope) -> Awaitable[Row | None]:
        return records.claim_job(
            db,
            scope,
            at=next_year,
            lease=LEASE,
            job_types=[IMPORT],
            exclude_types=False,
            one_at_a_time=[IMPORT],
        )

    in_transaction(service, add_two)()
    outcome = call_while_locked(service, claim_in_turn, in_transaction(service, claim_in_turn))

    assert outcome.waited
    assert outcome.result is None


def test_an_import_does_not_wait_for_one_whose_process_has_died(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    first, second = job_db.add_job(IMPORT, seconds=-2), job_db.add_job(IMPORT, seconds=-1)
    claim(job_db)

    frozen_clock.advance(seconds=61)

    assert claim(job_db).job_id == first
    assert claim(job_db) is None
    assert job_db.find_job(second).state == "waiting"


def test_imports_of_another_organisation_do_not_wait(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_db.add_job(IMPORT)
    other = job_db.add_organisation()

    async def add(db: AsyncConnection) -> None:
        await records.add_job(db, other, IMPORT, due=clock.now())

    async def add_to_other() -> None:
        async with transaction(job_db.engine, other.organisation_id) as db:
            await add(db)

    job_db.run(add_to_other())

    assert claim(job_db) is not None
    assert claim(job_db, other) is not None


def test_two_processes_cannot_claim_two_imports_at_the_same_moment(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_db.add_job(IMPORT)
    job_db.add_job(IMPORT)
    organisation_id = job_db.scope.organisation_id

    async def claim_job() -> Any:
        async with transaction(job_db.engine, organisation_id) as db:
            row = await records.claim_job(
                db, job_db.scope, at=clock.now(), lease=LEASE, one_at_a_time=[IMPORT]
            )
            await asyncio.sleep(0.05)  # the other one arrives before this is committed
            return row

    async def claim_twice() -> tuple[Any, Any]:
        return await asyncio.gather(claim_job(), claim_job())

    rows = job_db.run(claim_twice())

    assert sorted(row is None for row in rows) == [False, True]


def test_the_runner_runs_one_import_of_an_organisation(job_db: JobDatabase) -> None:
    job_db.add_job(IMPORT)
    job_db.add_job(IMPORT)
    running = asyncio.Event()
    claimed: list[bool] = []

    async def prepare(_job: Job, _report: ReportProgress) -> None:
        if running.is_set():
            return
        running.set()
        runner = JobRunner(job_db.engine, [job_type])
        claimed.append(await runner.run_next(job_db.scope, lane=LONG))

    job_type = JobType(IMPORT, do_nothing, prepare=prepare, one_per_organisation=True)
    job_db.run(JobRunner(job_db.engine, [job_type]).run_next(job_db.scope, lane=LONG))

    assert claimed == [False]
