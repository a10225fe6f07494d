"""Runs jobs that wait for servers of others: many at once, a few of each organisation."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from nimbill.database.tenant_scope import TenantScope, is_database_unavailable

log = structlog.get_logger()

TASKS_MAX = 64
TASKS_OF_ORGANISATION_MAX = 4

# Runs a job of the organisation that is due; False if there is none.
RunNext = Callable[[TenantScope], Awaitable[bool]]


class ParallelLane:
    """The tasks of one process.

    An organisation whose servers are slow occupies its own share only. It gets more than one task
    only while half of all tasks are free.
    """

    def __init__(self, run_next: RunNext) -> None:
        self._run_next = run_next
        self._running: dict[asyncio.Task[None], str] = {}
        self._turns = 0
        self._last_turn: dict[str, int] = {}

    def start(self, organisation_ids: Sequence[str]) -> None:
        """Start a task for each organisation with due jobs, as far as there is room.

        The organisation whose last turn was longest ago comes first.
        """
        for organisation_id in sorted(organisation_ids, key=self._get_last_turn):
            if len(self._running) >= TASKS_MAX:
                return
            running = sum(other == organisation_id for other in self._running.values())
            if running < (1 if self._is_crowded else TASKS_OF_ORGANISATION_MAX):
                self._turns += 1
                self._last_turn[organisation_id] = self._turns
                task = asyncio.create_task(self._run_due_jobs(TenantScope(organisation_id)))
                self._running[task] = organisation_id
                task.add_done_callback(self._running.pop)

    async def stop(self) -> None:
        """Interrupt all tasks; their jobs start again later."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _get_last_turn(self, organisation_id: str) -> int:
        return self._last_turn.get(organisation_id, 0)

    @property
    def _is_crowded(self) -> bool:
        return len(self._running) * 2 >= TASKS_MAX

    async def _run_due_jobs(self, scope: TenantScope) -> None:
        """Run one job after the other; leave the place to others if there are many."""
        try:
            while await self._run_next(scope) and not self._is_crowded:
                pass
        except Exception as error:
            if not is_database_unavailable(error):
                log.error("job_loop_failed", exc_info=error)
