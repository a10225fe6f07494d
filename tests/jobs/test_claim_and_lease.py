"""Stored jobs: claimed once, protected by a lease, claimed again when the lease expires."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.jobs import records
from tests.jobs.conftest import FrozenClock, JobDatabase

LEASE = timedelta(seconds=60)


def claim(job_db: JobDatabase, scope: TenantScope | None = None) -> Any:
    tenant = scope or job_db.scope

    async def claim_job() -> Any:
        async with transaction(job_db.engine, tenant.organisation_id) as db:
            return await records.claim_job(db, tenant, at=clock.now(), lease=LEASE)

    return job_db.run(claim_job())


def test_a_due_job_is_claimed_with_a_lease(job_db: JobDatabase, frozen_clock: FrozenClock) -> None:
    job_id = job_db.add_job("mail", subject="one", payload={"to": "名"})

    row = claim(job_db)

    assert row.job_id == job_id
    assert (row.kind, row.subject, row.payload, row.progress) == ("mail", "one", {"to": "名"}, {})
    assert (row.state, row.attempts) == ("running", 1)
    assert row.leased_until == frozen_clock.at + LEASE


def test_a_leased_or_future_job_is_not_claimed(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_db.add_job("now")
    job_db.add_job("later", seconds=10)

    assert claim(job_db).kind == "now"
    assert claim(job_db) is None

    frozen_clock.advance(seconds=10)
    assert claim(job_db).kind == "later"


def test_the_job_due_for_longest_is_claimed_first(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    for number, seconds in enumerate((-10, -30, -20)):
        job_db.add_job(f"kind-{number}", seconds=seconds)

    assert [claim(job_db).kind for _ in range(3)] == ["kind-1", "kind-2", "kind-0"]


def test_the_same_subject_is_not_added_while_its_job_waits_or_runs(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    def add() -> str | None:
        return job_db.in_transaction(
            lambda db: records.add_job(db, job_db.scope, "mail", due=clock.now(), subject="one")
        )

    first = add()
    assert first is not None
    assert add() is None

    attempt = claim(job_db).attempts
    assert add() is None, "the job is running"

    job_db.in_transaction(
        lambda db: records.complete_job(
            db, job_db.scope, first, attempt=attempt, at=frozen_clock.at
        )
    )
    assert add() is not None


def test_jobs_without_a_subject_are_all_different(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    assert job_db.add_job("mail") != job_db.add_job("mail")
    assert len(job_db.list_jobs()) == 2


def test_a_rolled_back_transaction_adds_no_job(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    async def fail(db: AsyncConnection) -> None:
        await records.add_job(db, job_db.scope, "mail", due=clock.now())
        await db.rollback()

    job_db.in_transaction(fail)

    assert job_db.list_jobs() == []


def test_concurrent_claims_return_different_jobs(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_db.add_job("one")
    job_db.add_job("two")
    organisation_id = job_db.scope.organisation_id

    async def claim_three() -> list[Any]:
        async with (
            transaction(job_db.engine, organisation_id) as first,
            transaction(job_db.engine, organisation_id) as second,
            transaction(job_db.engine, organisation_id) as third,
        ):
            return [
                await asyncio.wait_for(
                    records.claim_job(db, job_db.scope, at=clock.now(), lease=LEASE), 60
                )
                for db in (first, second, third)
            ]

    first_job, second_job, third_job = job_db.run(claim_three())

    assert {first_job.kind, second_job.kind} == {"one", "two"}
    assert third_job is None


def test_an_expired_lease_is_claimed_again(job_db: JobDatabase, frozen_clock: FrozenClock) -> None:
    job_id = job_db.add_job("mail")
    claim(job_db)

    frozen_clock.advance(seconds=60)
    assert claim(job_db) is None, "the lease includes its last moment"

    frozen_clock.advance(seconds=1)
    reclaimed = claim(job_db)
    assert (reclaimed.job_id, reclaimed.attempts) == (job_id, 2)


def test_a_process_that_lost_its_lease_changes_nothing(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("mail")
    scope, first = job_db.scope, claim(job_db).attempts
    frozen_clock.advance(seconds=61)
    second = claim(job_db).attempts
    until = frozen_clock.at + LEASE

    renewed = job_db.in_transaction(
        lambda db: records.renew_lease(db, scope, job_id, attempt=first, until=until + LEASE)
    )
    completed = job_db.in_transaction(
        lambda db: records.complete_job(db, scope, job_id, attempt=first, at=frozen_clock.at)
    )
    job_db.in_transaction(
        lambda db: records.reschedule(
            db, scope, job_id, attempt=first, at=frozen_clock.at, due=None, reason="late"
        )
    )

    row = job_db.find_job(job_id)
    assert (renewed, completed) == (False, False)
    assert (row.state, row.attempts, row.leased_until, row.reason) == (
        "running",
        second,
        until,
        None,
    )
    assert job_db.in_transaction(
        lambda db: records.complete_job(db, scope, job_id, attempt=second, at=frozen_clock.at)
    )
    assert job_db.find_job(job_id).state == "done"


def test_renewal_extends_the_lease_and_stores_progress(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("import")
    attempt = claim(job_db).attempts
    until = frozen_clock.at + timedelta(minutes=5)
    scope = job_db.scope

    assert job_db.in_transaction(
        lambda db: records.renew_lease(
            db, scope, job_id, attempt=attempt, until=until, progress={"lines": 7}
        )
    )
    assert job_db.in_transaction(
        lambda db: records.renew_lease(db, scope, job_id, attempt=attempt, until=until + LEASE)
    )

    row = job_db.find_job(job_id)
    assert row.leased_until == until + LEASE
    assert row.progress == {"lines": 7}
    frozen_clock.advance(minutes=2)
    assert claim(job_db) is None


def test_a_completed_or_failed_job_is_never_claimed_again(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    scope, done, failed = job_db.scope, job_db.add_job("done"), job_db.add_job("failed")
    for job_id in (done, failed):
        assert claim(job_db).job_id == job_id
    job_db.in_transaction(
        lambda db: records.complete_job(db, scope, done, attempt=1, at=frozen_clock.at)
    )
    job_db.in_transaction(
        lambda db: records.reschedule(
            db, scope, failed, attempt=1, at=frozen_clock.at, due=None, reason="ValueError"
        )
    )

    frozen_clock.advance(days=30)

    assert claim(job_db) is None
    assert job_db.find_job(done).state == "done"
    assert (job_db.find_job(failed).state, job_db.find_job(failed).reason) == (
        "failed",
        "ValueError",
    )


def test_an_organisation_claims_only_its_own_jobs(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("mail")
    other = job_db.add_organisation()

    assert claim(job_db, other) is None

    async def claim_across_tenants() -> Any:
        async with transaction(job_db.engine, other.organisation_id) as db:
            return await records.claim_job(db, job_db.scope, at=clock.now(), lease=LEASE)

    assert job_db.run(claim_across_tenants()) is None, "row-level security"
    assert job_db.find_job(job_id).state == "waiting"


def test_organisations_with_due_or_abandoned_jobs_of_these_types_are_listed(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    async def list_due(**types: Any) -> list[str]:
        async with job_db.engine.connect() as db:
            return await records.list_organisations_with_due_jobs(db, at=clock.now(), **types)

    organisation_id = job_db.scope.organisation_id
    job_db.add_job("mail", seconds=10)
    assert organisation_id not in job_db.run(list_due())

    frozen_clock.advance(seconds=10)
    assert organisation_id in job_db.run(list_due())
    assert organisation_id in job_db.run(list_due(job_types=["mail"], exclude_types=False))
    assert organisation_id not in job_db.run(list_due(job_types=["mail"]))
    assert organisation_id not in job_db.run(list_due(job_types=["other"], exclude_types=False))

    claim(job_db)
    assert organisation_id not in job_db.run(list_due())

    frozen_clock.advance(seconds=61)
    assert organisation_id in job_db.run(list_due())


def test_the_database_refuses_an_unknown_state(job_db: JobDatabase) -> None:
    job_id = job_db.add_job("mail")

    async def set_unknown_state(db: AsyncConnection) -> None:
        await db.execute(sa.update(records.jobs).values(state="lost"))

    with pytest.raises(IntegrityError, match="check constraint"):
        job_db.in_transaction(set_unknown_state)

    assert job_db.find_job(job_id).state == "waiting"


def test_a_waiting_job_moves_forward_but_not_back(
    job_db: JobDatabase, frozen_clock: FrozenClock
) -> None:
    job_id = job_db.add_job("move", subject="one", seconds=60)
    sooner = frozen_clock.at + timedelta(seconds=5)

    async def move(db: AsyncConnection) -> None:
        for due in (sooner, frozen_clock.at + timedelta(seconds=30)):
            await records.run_sooner(db, job_db.scope, "move", subject="one", due=due)

    job_db.in_transaction(move)

    assert job_db.find_job(job_id).due == sooner
