"""The loop that takes due work: done once, tried again, given up in the end, back by itself."""

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
from nimbill.jobs.runner import ATTEMPTS_MAX, LEASE, LONG, Doer, Job, JobRunner, JobType
from tests.answers import CANARY
from tests.jobs.conftest import Clock, Workshop


async def do_nothing(_db: AsyncConnection, _taken: Job) -> None:
    return


async def fail(_db: AsyncConnection, _taken: Job) -> None:
    raise ValueError(CANARY)


def runner(workshop: Workshop, do: Doer = do_nothing, every: timedelta | None = None) -> JobRunner:
    return JobRunner(workshop.engine, [JobType("kind", do, every)])


def run_once(workshop: Workshop, one: JobRunner) -> bool:
    return workshop.run(one.run_once())


def test_work_is_done_with_what_it_was_given(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("kind", subject="subject", payload={"a": [1, "名"]})
    met: list[Job] = []

    async def do(_db: AsyncConnection, taken: Job) -> None:
        met.append(taken)

    assert run_once(workshop, runner(workshop, do)) is True

    assert met == [Job(workshop.scope, work_id, "kind", "subject", {"a": [1, "名"]}, {}, attempt=1)]
    assert workshop.row(work_id).state == "done"
    assert workshop.row(work_id).lease_until is None


def test_nothing_due_is_nothing_done(workshop: Workshop, stopped: Clock) -> None:
    workshop.add("kind", seconds=1)

    assert run_once(workshop, runner(workshop)) is False


def test_every_organisation_gets_its_turn(workshop: Workshop, stopped: Clock) -> None:
    other = workshop.new_scope()
    workshop.add("kind")

    async def add() -> None:
        async with transaction(workshop.engine, other.organisation_id) as db:
            await records.add_job(db, other, "kind", due=clock.now())

    workshop.run(add())
    met = Counter[str]()

    async def do(_db: AsyncConnection, taken: Job) -> None:
        met[taken.scope.organisation_id] += 1

    run_once(workshop, runner(workshop, do))

    assert met[workshop.scope.organisation_id] == met[other.organisation_id] == 1


def test_told_to_stop_it_begins_nothing_more(workshop: Workshop, stopped: Clock) -> None:
    other = workshop.new_scope()
    begun: list[str] = []

    async def do(_db: AsyncConnection, taken: Job) -> None:
        begun.append(taken.scope.organisation_id)
        one.stop()

    async def add() -> None:
        for scope in (workshop.scope, other):
            async with transaction(workshop.engine, scope.organisation_id) as db:
                await records.add_job(db, scope, "kind", due=clock.now())

    one = runner(workshop, do)
    workshop.run(add())

    assert run_once(workshop, one) is True
    assert len(begun) == 1
    assert run_once(workshop, runner(workshop)) is True  # what is left is the next one's


def test_several_runners_do_nothing_twice_and_leave_nothing_out(workshop: Workshop) -> None:
    ids = {workshop.add("kind") for _ in range(30)}
    done = Counter[str]()

    async def do(_db: AsyncConnection, taken: Job) -> None:
        await asyncio.sleep(0.002)
        done[taken.work_id] += 1

    async def until_nothing_is_left(one: JobRunner) -> None:
        idle = 0
        while idle < 3:
            idle = 0 if await one.run_once() else idle + 1
            await asyncio.sleep(0.001)

    async def all_of_them() -> None:
        runners = [runner(workshop, do) for _ in range(4)]
        await asyncio.gather(*(until_nothing_is_left(one) for one in runners))

    workshop.run(all_of_them())

    assert done == dict.fromkeys(ids, 1)
    assert {row.state for row in workshop.rows()} == {"done"}


def test_the_effect_and_the_mark_of_it_are_there_together_or_not_at_all(
    workshop: Workshop, stopped: Clock
) -> None:
    work_id = workshop.add("kind")
    rename = sa.text("UPDATE organisations SET name = 'changed'")
    wanted = [True]

    async def do(db: AsyncConnection, _taken: Job) -> None:
        await db.execute(rename)
        if wanted[0]:
            raise ValueError

    async def name(db: AsyncConnection) -> str:
        return str((await db.execute(sa.text("SELECT name FROM organisations"))).scalar_one())

    run_once(workshop, runner(workshop, do))
    assert workshop.ask(name) == "Test"
    assert workshop.row(work_id).state == "waiting"

    wanted[0] = False
    stopped.go_on(hours=1)
    run_once(workshop, runner(workshop, do))
    assert workshop.ask(name) == "changed"
    assert workshop.row(work_id).state == "done"


def test_what_went_wrong_is_tried_again_later_each_time(workshop: Workshop, stopped: Clock) -> None:
    work_id, one = workshop.add("kind"), runner(workshop, fail)
    pauses = []

    for attempt in range(1, ATTEMPTS_MAX):
        assert run_once(workshop, one) is True
        row = workshop.row(work_id)
        assert (row.state, row.attempts, row.reason) == ("waiting", attempt, "ValueError")
        pauses.append((row.due - stopped.at).total_seconds())
        assert run_once(workshop, one) is False, "not before it is due again"
        stopped.at = row.due

    assert pauses == sorted(pauses)
    assert pauses[:4] == [2, 4, 8, 16]
    assert max(pauses) <= 600


def test_after_so_many_attempts_it_is_given_up(workshop: Workshop, stopped: Clock) -> None:
    work_id, one = workshop.add("kind"), runner(workshop, fail)

    for _ in range(ATTEMPTS_MAX):
        run_once(workshop, one)
        stopped.go_on(hours=1)

    row = workshop.row(work_id)
    assert (row.state, row.attempts, row.reason) == ("failed", ATTEMPTS_MAX, "ValueError")
    assert run_once(workshop, one) is False


@pytest.mark.parametrize("attempts", [2, ATTEMPTS_MAX + 3])
def test_a_kind_may_be_tried_less_or_more_often(
    workshop: Workshop, stopped: Clock, attempts: int
) -> None:
    work_id = workshop.add("kind")
    one = JobRunner(workshop.engine, [JobType("kind", fail, attempts_max=attempts)])

    for _ in range(attempts + 2):
        run_once(workshop, one)
        stopped.go_on(hours=1)

    row = workshop.row(work_id)
    assert (row.state, row.attempts) == ("failed", attempts)


def test_the_reason_is_told_without_any_value(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("kind", payload={"secret": CANARY})

    with capture_logs() as lines:
        run_once(workshop, runner(workshop, fail))

    (line,) = [line for line in lines if line["event"] == "work_failed"]
    assert (line["work_id"], line["kind"], line["attempt"]) == (work_id, "kind", 1)
    assert isinstance(line.pop("exc_info"), ValueError)  # its message is left out by the log itself
    assert CANARY not in repr(line)
    assert CANARY not in workshop.row(work_id).reason


def test_what_comes_back_by_itself_comes_back_after_its_time(
    workshop: Workshop, stopped: Clock
) -> None:
    workshop.add("kind", subject="upkeep")
    one = runner(workshop, every=timedelta(hours=1))

    for turn in range(1, 4):
        assert run_once(workshop, one) is True
        assert run_once(workshop, one) is False
        rows = workshop.rows()
        assert [row.state for row in rows] == ["done"] * turn + ["waiting"]
        assert rows[-1].due == stopped.at + timedelta(hours=1)
        assert (rows[-1].subject, rows[-1].attempts) == ("upkeep", 0)
        stopped.go_on(hours=1)


def test_what_comes_back_by_itself_is_never_given_up(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("kind", subject="upkeep")
    one = runner(workshop, fail, every=timedelta(hours=1))

    for _ in range(ATTEMPTS_MAX + 3):
        run_once(workshop, one)
        stopped.go_on(hours=1)

    row = workshop.row(work_id)
    assert (row.state, row.attempts) == ("waiting", ATTEMPTS_MAX + 3)


def test_a_kind_nobody_knows_is_put_off_and_given_up(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("from a newer version")

    run_once(workshop, runner(workshop))
    first = workshop.row(work_id)
    for _ in range(ATTEMPTS_MAX):
        stopped.go_on(hours=1)
        run_once(workshop, runner(workshop))

    assert (first.state, first.reason) == ("waiting", "LookupError")
    assert workshop.row(work_id).state == "failed"


def test_who_lost_the_lease_while_working_undoes_the_work(
    workshop: Workshop, stopped: Clock
) -> None:
    work_id = workshop.add("kind")
    rename = sa.text("UPDATE organisations SET name = 'by the late one'")

    async def slow(db: AsyncConnection, taken: Job) -> None:
        await db.execute(rename)
        stopped.go_on(seconds=LEASE.total_seconds() + 1)
        async with transaction(workshop.engine, taken.scope.organisation_id) as another:
            over = await records.take_work(another, taken.scope, at=clock.now(), lease=LEASE)
        assert over is not None

    run_once(workshop, runner(workshop, slow))

    row = workshop.row(work_id)
    assert (row.state, row.attempts, row.reason) == ("running", 2, None)

    async def name(db: AsyncConnection) -> str:
        return str((await db.execute(sa.text("SELECT name FROM organisations"))).scalar_one())

    assert workshop.ask(name) == "Test"


def test_work_that_outlasts_its_lease_is_not_taken_over(
    workshop: Workshop, stopped: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.jobs.runner.HOLD_EVERY_SECONDS", 0.01)
    work_id = workshop.add("kind")

    async def lease_until() -> datetime:
        async with transaction(workshop.engine, workshop.scope.organisation_id) as another:
            row = await records.find_work(another, workshop.scope, work_id)
            assert row is not None
            found: datetime = row.lease_until
            return found

    async def do(_db: AsyncConnection, taken: Job) -> None:
        async with asyncio.timeout(20):
            for _ in range(3):
                stopped.go_on(seconds=LEASE.total_seconds() / 2)
                while await lease_until() < clock.now() + LEASE:
                    await asyncio.sleep(0.01)
        async with transaction(workshop.engine, taken.scope.organisation_id) as another:
            assert not await records.take_work(another, taken.scope, at=clock.now(), lease=LEASE)

    run_once(workshop, runner(workshop, do))

    assert workshop.row(work_id).state == "done"
    assert workshop.row(work_id).attempts == 1


def test_a_runner_that_died_is_followed_by_another(workshop: Workshop, stopped: Clock) -> None:
    work_id = workshop.add("kind")
    died = asyncio.CancelledError()

    async def die(_db: AsyncConnection, _taken: Job) -> None:
        raise died

    with pytest.raises(asyncio.CancelledError):
        run_once(workshop, runner(workshop, die))
    assert workshop.row(work_id).state == "running"
    assert run_once(workshop, runner(workshop)) is False

    stopped.go_on(seconds=LEASE.total_seconds() + 1)

    assert run_once(workshop, runner(workshop)) is True
    assert (workshop.row(work_id).state, workshop.row(work_id).attempts) == ("done", 2)


def test_the_loop_takes_what_comes_and_ends_when_told(workshop: Workshop) -> None:
    workshop.add("kind")
    one = runner(workshop)

    async def loop() -> None:
        running = asyncio.create_task(one.run())
        async with asyncio.timeout(30):
            while await _states(workshop) != ["done"]:
                await asyncio.sleep(0.02)
            one.stop()
            await running

    workshop.run(loop())


async def _states(workshop: Workshop) -> list[str]:
    async with transaction(workshop.engine, workshop.scope.organisation_id) as db:
        return list((await db.execute(sa.select(records.jobs.c.state))).scalars())


def test_a_database_that_is_away_does_not_end_the_loop(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nimbill.jobs.runner.LOOK_EVERY_SECONDS", 0.01)
    one, troubles = runner(workshop), [ConnectionError(), OSError(), ValueError("a fault of ours")]

    async def trouble(*, lane: str) -> bool:
        if lane == LONG:
            return False
        if troubles:
            raise troubles.pop(0)
        one.stop()
        return False

    monkeypatch.setattr(one, "run_once", trouble)
    with capture_logs() as lines:
        workshop.run(asyncio.wait_for(one.run(), 30))

    assert troubles == []
    assert [line["event"] for line in lines] == ["work_loop"]
