"""Job loops of a service under test: they poll after a change of their jobs, and rarely else."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from time import monotonic
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from nimbill.foundation import clock
from nimbill.jobs import records
from nimbill.jobs.runner import JobRunner
from nimbill.webhooks.events import DELIVER_WEBHOOKS

# A test that waits for a job must not wait for a second, but polling all the time would use a
# fifth of the test run, and polls of loops whose jobs have not changed a tenth. The rare poll, one
# for all loops, notices changes of other processes and of the clock, and events for webhooks:
# delivering each of them at once took a quarter of the time of row R1.
PAUSE_SECONDS = 0.02
IDLE_POLL_SECONDS = 0.5
CHANGES = ("INSERT INTO jobs", "UPDATE jobs")
CHANGED = "jobs_changed"
ANY_TYPE = "any"  # the change does not name the type of its job


def _makes_a_job_due(statement: str, values: Sequence[Any]) -> bool:
    """A claim and the renewal of a lease contain a time to come."""
    if not statement.startswith(CHANGES):
        return False
    now = clock.now()
    is_later = any(isinstance(value, datetime) and value > now for value in values)
    return not is_later and "done" not in values and DELIVER_WEBHOOKS not in values


class _JobChanges:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()  # how many changes made a job of this type due
        self.types: set[str] = set()
        self.lanes: WeakKeyDictionary[asyncio.Task[Any], str] = WeakKeyDictionary()  # by loop
        # the sum of the counts before the last poll of each loop
        self.seen: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()
        self.next_idle_poll: WeakKeyDictionary[JobRunner, float] = WeakKeyDictionary()

    def note(self, db: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        first = values[0] if isinstance(values, list) else values
        if _makes_a_job_due(statement, first):
            named = self.types.intersection(value for value in first if isinstance(value, str))
            db.info.setdefault(CHANGED, []).append(named.pop() if len(named) == 1 else ANY_TYPE)

    def count_changes(self, _connection: Any, record: Any) -> None:
        """The transaction has ended, because its connection is returned to the pool."""
        self.counts.update(record.info.pop(CHANGED, []))

    async def list_organisations(self, runner: JobRunner, lane: str) -> list[str]:
        """Remember what the loop has seen before it polls."""
        self.types |= runner._job_types.keys()
        loop = asyncio.current_task()
        assert loop is not None
        self.lanes[loop] = lane
        self.seen[loop] = self._count(runner, lane)
        return await _list_organisations(runner, lane)

    def _count(self, runner: JobRunner, lane: str) -> int:
        """The number of changes that concern the lane."""
        selection = runner._select_types(lane)
        types, excluded = set(selection["job_types"]), selection["exclude_types"]
        return sum(
            count
            for name, count in self.counts.items()
            if name == ANY_TYPE or (name in types) != excluded
        )

    async def wait(self, runner: JobRunner, seconds: float) -> None:
        loop = asyncio.current_task()
        assert loop is not None
        lane = self.lanes.get(loop)
        if lane is None:  # a test has replaced the poll
            await _wait(runner, seconds)
            return
        while self.seen[loop] == self._count(runner, lane):
            with suppress(TimeoutError):  # tests replace asyncio.sleep
                await asyncio.wait_for(runner._stopping.wait(), PAUSE_SECONDS)
                return
            await self._poll_for_all(runner)

    async def _poll_for_all(self, runner: JobRunner) -> None:
        """Poll for the other loops of the runner too, if the last time is long ago."""
        if monotonic() < self.next_idle_poll.get(runner, 0):
            return
        self.next_idle_poll[runner] = monotonic() + IDLE_POLL_SECONDS
        try:
            async with runner._engine.connect() as db:
                due = await records.list_organisations_with_due_jobs(db, at=clock.now())
        except Exception:  # noqa: BLE001  # the loops poll and meet the same error
            due = ["unknown"]
        if due:
            self.counts[ANY_TYPE] += 1


_wait = JobRunner._wait
_list_organisations = JobRunner._list_organisations


@contextmanager
def prompt_job_loops() -> Iterator[None]:
    changes = _JobChanges()

    async def wait(runner: JobRunner, seconds: float) -> None:
        await changes.wait(runner, seconds)

    async def list_organisations(runner: JobRunner, lane: str) -> list[str]:
        return await changes.list_organisations(runner, lane)

    sa.event.listen(sa.Engine, "after_cursor_execute", changes.note)
    sa.event.listen(sa.Pool, "checkin", changes.count_changes)
    try:
        with (
            patch.object(JobRunner, "_wait", wait),
            patch.object(JobRunner, "_list_organisations", list_organisations),
        ):
            yield
    finally:
        sa.event.remove(sa.Pool, "checkin", changes.count_changes)
        sa.event.remove(sa.Engine, "after_cursor_execute", changes.note)
