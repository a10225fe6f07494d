"""Job loops of a service under test: they poll soon after a change of the jobs, and rarely else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import sqlalchemy as sa

from nimbill.jobs.runner import JobRunner

# A test that waits for a job must not wait for a second, but polling all the time would use a
# fifth of the test run.
PAUSE_SECONDS = 0.03
RECENT_SECONDS = 2.0  # the change may be committed this long after its statement
IDLE_POLL_SECONDS = 0.1
CHANGES = ("INSERT INTO jobs", "UPDATE jobs")


_unnoticed: list[object] = []  # one item for each block of `unnoticed_changes`


@contextmanager
def unnoticed_changes() -> Iterator[None]:
    """Jobs that are added inside are not due soon."""
    _unnoticed.append(object())
    try:
        yield
    finally:
        _unnoticed.pop()


class _LastChange:
    def __init__(self) -> None:
        self.at = 0.0

    def note(self, _db: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(CHANGES) and not _unnoticed:
            self.at = time.monotonic()

    async def wait(self, runner: JobRunner, _seconds: float) -> None:
        deadline = time.monotonic() + IDLE_POLL_SECONDS
        while time.monotonic() < deadline and not runner._stopping.is_set():
            with suppress(TimeoutError):  # tests replace asyncio.sleep
                await asyncio.wait_for(runner._stopping.wait(), PAUSE_SECONDS)
            if time.monotonic() - self.at < RECENT_SECONDS:
                return


@contextmanager
def prompt_job_loops() -> Iterator[None]:
    last_change = _LastChange()
    sa.event.listen(sa.Engine, "after_cursor_execute", last_change.note)
    try:
        with patch.object(JobRunner, "_wait", lambda *args: last_change.wait(*args)):
            yield
    finally:
        sa.event.remove(sa.Engine, "after_cursor_execute", last_change.note)
