"""Job loops of a service under test: they poll after a change of the jobs, and rarely else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from nimbill.foundation import clock
from nimbill.jobs.runner import JobRunner
from nimbill.webhooks.events import DELIVER_WEBHOOKS

# A test that waits for a job must not wait for a second, but polling all the time would use a
# fifth of the test run. The rare poll notices changes of other processes and of the clock, and
# events for webhooks: delivering each of them at once took a quarter of the time of row R1.
PAUSE_SECONDS = 0.02
IDLE_POLL_SECONDS = 0.5
CHANGES = ("INSERT INTO jobs", "UPDATE jobs")
CHANGED = "jobs_changed"


def _makes_a_job_due(statement: str, values: Sequence[Any]) -> bool:
    """A claim and the renewal of a lease contain a time to come."""
    if not statement.startswith(CHANGES):
        return False
    now = clock.now()
    is_later = any(isinstance(value, datetime) and value > now for value in values)
    return not is_later and "done" not in values and DELIVER_WEBHOOKS not in values


class _JobChanges:
    def __init__(self) -> None:
        self.count = 0
        # how many changes there were before the last poll of each loop
        self.seen: WeakKeyDictionary[asyncio.Task[Any], int] = WeakKeyDictionary()

    def note(self, db: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if _makes_a_job_due(statement, values[0] if isinstance(values, list) else values):
            db.info[CHANGED] = True

    def count_change(self, _connection: Any, record: Any) -> None:
        """The transaction has ended, because its connection is returned to the pool."""
        if record.info.pop(CHANGED, False):
            self.count += 1

    async def wait(self, runner: JobRunner, _seconds: float) -> None:
        loop = asyncio.current_task()
        assert loop is not None
        pauses = 0
        while self.seen.get(loop, 0) == self.count and pauses * PAUSE_SECONDS < IDLE_POLL_SECONDS:
            with suppress(TimeoutError):  # tests replace asyncio.sleep
                await asyncio.wait_for(runner._stopping.wait(), PAUSE_SECONDS)
                return
            pauses += 1
        self.seen[loop] = self.count


@contextmanager
def prompt_job_loops() -> Iterator[None]:
    changes = _JobChanges()
    sa.event.listen(sa.Engine, "after_cursor_execute", changes.note)
    sa.event.listen(sa.Pool, "checkin", changes.count_change)
    try:
        with patch.object(JobRunner, "_wait", lambda *args: changes.wait(*args)):
            yield
    finally:
        sa.event.remove(sa.Pool, "checkin", changes.count_change)
        sa.event.remove(sa.Engine, "after_cursor_execute", changes.note)
