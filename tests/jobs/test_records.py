"""Stored work: taken once, held by a lease, and lost to the next holder when the lease runs out."""

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
from tests.jobs.conftest import Clock, Workshop

LEASE = timedelta(seconds=60)


def take(shop: Workshop, scope: TenantScope | None = None) -> Any:
    who = scope or shop.scope

    async def taken() -> Any:
        async with transaction(shop.engine, who.organisation_id) as db:
            return await records.take_work(db, who, at=clock.now(), lease=LEASE)

    return shop.run(taken())


def test_what_is_due_is_taken_and_held_by_a_lease(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("mail", subject="one", payload={"to": "名"})

    row = take(workshop)

    assert row.work_id == work_id
    assert (row.kind, row.subject, row.payload, row.progress) == ("mail", "one", {"to": "名"}, {})
    assert (row.state, row.attempts) == ("running", 1)
    assert row.lease_until == stopped.at + LEASE


def test_what_is_held_or_not_yet_due_is_not_taken(workshop: Workshop, stopped: Clock) -> None:
    workshop.add("now")
    workshop.add("later", seconds=10)

    assert take(workshop).kind == "now"
    assert take(workshop) is None

    stopped.go_on(seconds=10)
    assert take(workshop).kind == "later"


def test_the_longest_due_comes_first(workshop: Workshop, stopped: Clock) -> None:
    for number, seconds in enumerate((-10, -30, -20)):
        workshop.add(f"kind-{number}", seconds=seconds)

    assert [take(workshop).kind for _ in range(3)] == ["kind-1", "kind-2", "kind-0"]


def test_the_same_thing_waits_once(workshop: Workshop, stopped: Clock) -> None:
    def again() -> str | None:
        return workshop.ask(
            lambda db: records.add_job(db, workshop.scope, "mail", due=clock.now(), subject="one")
        )

    first = again()
    assert first is not None
    assert again() is None

    attempt = take(workshop).attempts
    assert again() is None, "not while it runs either"

    workshop.ask(
        lambda db: records.finish_work(db, workshop.scope, first, attempt=attempt, at=stopped.at)
    )
    assert again() is not None


def test_things_without_a_subject_are_all_different(workshop: Workshop, stopped: Clock) -> None:
    assert workshop.add("mail") != workshop.add("mail")
    assert len(workshop.rows()) == 2


def test_work_is_there_only_if_its_transaction_was(workshop: Workshop, stopped: Clock) -> None:
    async def fail(db: AsyncConnection) -> None:
        await records.add_job(db, workshop.scope, "mail", due=clock.now())
        await db.rollback()

    workshop.ask(fail)

    assert workshop.rows() == []


def test_two_that_take_at_the_same_moment_take_different_things(
    workshop: Workshop, stopped: Clock
) -> None:
    workshop.add("one")
    workshop.add("two")
    organisation_id = workshop.scope.organisation_id

    async def both() -> list[Any]:
        async with (
            transaction(workshop.engine, organisation_id) as first,
            transaction(workshop.engine, organisation_id) as second,
            transaction(workshop.engine, organisation_id) as third,
        ):
            return [
                await asyncio.wait_for(
                    records.take_work(db, workshop.scope, at=clock.now(), lease=LEASE), 10
                )
                for db in (first, second, third)
            ]

    one, two, none = workshop.run(both())

    assert {one.kind, two.kind} == {"one", "two"}
    assert none is None


def test_a_lease_that_ran_out_is_taken_over(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("mail")
    take(workshop)

    stopped.go_on(seconds=60)
    assert take(workshop) is None, "the lease holds to its last moment"

    stopped.go_on(seconds=1)
    taken_over = take(workshop)
    assert (taken_over.work_id, taken_over.attempts) == (work_id, 2)


def test_the_late_first_holder_can_do_nothing_any_more(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("mail")
    scope, first = workshop.scope, take(workshop).attempts
    stopped.go_on(seconds=61)
    second = take(workshop).attempts
    until = stopped.at + LEASE

    held = workshop.ask(
        lambda db: records.hold_on(db, scope, work_id, attempt=first, until=until + LEASE)
    )
    finished = workshop.ask(
        lambda db: records.finish_work(db, scope, work_id, attempt=first, at=stopped.at)
    )
    workshop.ask(
        lambda db: records.put_off(
            db, scope, work_id, attempt=first, at=stopped.at, due=None, reason="late"
        )
    )

    row = workshop.row(work_id)
    assert (held, finished) == (False, False)
    assert (row.state, row.attempts, row.lease_until, row.reason) == (
        "running",
        second,
        until,
        None,
    )
    assert workshop.ask(
        lambda db: records.finish_work(db, scope, work_id, attempt=second, at=stopped.at)
    )
    assert workshop.row(work_id).state == "done"


def test_holding_on_extends_the_lease_and_notes_progress(
    workshop: Workshop, stopped: Clock
) -> None:
    work_id = workshop.add("import")
    attempt = take(workshop).attempts
    until = stopped.at + timedelta(minutes=5)
    scope = workshop.scope

    assert workshop.ask(
        lambda db: records.hold_on(
            db, scope, work_id, attempt=attempt, until=until, progress={"lines": 7}
        )
    )
    assert workshop.ask(
        lambda db: records.hold_on(db, scope, work_id, attempt=attempt, until=until + LEASE)
    )

    row = workshop.row(work_id)
    assert row.lease_until == until + LEASE
    assert row.progress == {"lines": 7}
    stopped.go_on(minutes=2)
    assert take(workshop) is None


def test_what_was_done_or_failed_is_never_taken_again(workshop: Workshop, stopped: Clock) -> None:
    scope, done, failed = workshop.scope, workshop.add("done"), workshop.add("failed")
    for work_id in (done, failed):
        assert take(workshop).work_id == work_id
    workshop.ask(lambda db: records.finish_work(db, scope, done, attempt=1, at=stopped.at))
    workshop.ask(
        lambda db: records.put_off(
            db, scope, failed, attempt=1, at=stopped.at, due=None, reason="ValueError"
        )
    )

    stopped.go_on(days=30)

    assert take(workshop) is None
    assert workshop.row(done).state == "done"
    assert (workshop.row(failed).state, workshop.row(failed).reason) == ("failed", "ValueError")


def test_an_organisation_takes_its_own_work_only(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("mail")
    other = workshop.new_scope()

    assert take(workshop, other) is None

    async def across() -> Any:
        async with transaction(workshop.engine, other.organisation_id) as db:
            return await records.take_work(db, workshop.scope, at=clock.now(), lease=LEASE)

    assert workshop.run(across()) is None, "the database's own wall stands behind the scope"
    assert workshop.row(work_id).state == "waiting"


def test_organisations_with_something_due_are_told_by_id_alone(
    workshop: Workshop, stopped: Clock
) -> None:
    async def due() -> list[str]:
        async with workshop.engine.connect() as db:
            return await records.organisations_with_work(db, at=clock.now())

    mine = workshop.scope.organisation_id
    workshop.add("mail", seconds=10)
    assert mine not in workshop.run(due())

    stopped.go_on(seconds=10)
    assert mine in workshop.run(due())

    take(workshop)
    assert mine not in workshop.run(due())

    stopped.go_on(seconds=61)
    assert mine in workshop.run(due())


def test_a_state_nobody_knows_is_refused_by_the_database(workshop: Workshop) -> None:
    work_id = workshop.add("mail")

    async def break_it(db: AsyncConnection) -> None:
        await db.execute(sa.update(records.jobs).values(state="lost"))

    with pytest.raises(IntegrityError, match="check constraint"):
        workshop.ask(break_it)

    assert workshop.row(work_id).state == "waiting"


def test_what_waits_for_later_can_be_hastened(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("move", subject="one", seconds=60)
    sooner = stopped.at + timedelta(seconds=5)

    async def hasten(db: AsyncConnection) -> None:
        for due in (sooner, stopped.at + timedelta(seconds=30)):
            await records.hasten(db, workshop.scope, "move", subject="one", due=due)

    workshop.ask(hasten)

    assert workshop.row(work_id).due == sooner
