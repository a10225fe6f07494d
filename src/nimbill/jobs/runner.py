"""The one loop per process that takes due work, does it, and comes back to what went wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import TenantScope, is_database_unavailable, transaction
from nimbill.foundation import clock
from nimbill.jobs import records

log = structlog.get_logger()

T = TypeVar("T")

LEASE = timedelta(seconds=60)
LOOK_EVERY_SECONDS = 1.0
TELL_EVERY_SECONDS = 1.0
HOLD_EVERY_SECONDS = LEASE.total_seconds() / 3
ATTEMPTS_MAX = 8

# Pieces of one lane are done one at a time, beside those of the other lanes.
SHORT = "short"
LONG = "long"


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work in hand."""

    scope: TenantScope
    work_id: str
    kind: str
    subject: str
    payload: dict[str, Any]
    progress: dict[str, Any]
    attempt: int
    prepared: Any = None  # what the kind's `prepare` answered


# Does the work inside a transaction that also marks it done: both happen, or neither.
# What is not at its end answers when to come back to it.
Doer = Callable[[AsyncConnection, Job], Awaitable[datetime | None]]
# Notes how far it is; the lease is kept meanwhile, and noting fails once it is lost.
ReportProgress = Callable[[dict[str, Any]], Awaitable[None]]
Preparer = Callable[[Job, ReportProgress], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class JobType:
    name: str
    do: Doer
    every: timedelta | None = None  # comes back by itself after this long
    attempts_max: int = ATTEMPTS_MAX
    # what takes long, done before the transaction is opened
    prepare: Preparer | None = None
    give_up: Doer | None = None  # beside marking the row failed for good
    lane: str | None = None  # else the long one for what is prepared, and the short one

    @property
    def runs_in(self) -> str:
        return self.lane or (SHORT if self.prepare is None else LONG)


class _TakenOver(Exception):
    """Another process has this work by now; nothing of ours counts."""


class JobRunner:
    def __init__(self, engine: AsyncEngine, kinds: list[JobType]) -> None:
        self._engine = engine
        self._kinds = {kind.name: kind for kind in kinds}
        self._lanes: dict[str, list[str]] = {SHORT: [], LONG: []}
        for kind in kinds:
            self._lanes.setdefault(kind.runs_in, []).append(kind.name)
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Until stopped; every lane beside the others."""
        loops = {lane: asyncio.create_task(self._loop(lane)) for lane in self._lanes}
        try:
            await self._stopping.wait()
        except asyncio.CancelledError:
            for loop in loops.values():
                loop.cancel()
            raise
        finally:
            # what takes long is left where it is: its lease runs out and it is taken up again
            loops[LONG].cancel()
            await asyncio.gather(*loops.values(), return_exceptions=True)

    async def _loop(self, lane: str) -> None:
        """A database that is away is waited for."""
        while not self._stopping.is_set():
            try:
                did_something = await self.run_once(lane=lane)
            except Exception as error:
                if not is_database_unavailable(error):
                    log.error("work_loop", exc_info=error)
                did_something = False
            if not did_something:
                await self._wait(LOOK_EVERY_SECONDS)

    def stop(self) -> None:
        self._stopping.set()

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return

    async def run_once(self, *, lane: str = SHORT) -> bool:
        """One piece of every organisation that has something due; whether there was any."""
        async with self._engine.connect() as db:
            organisations = await records.organisations_with_work(db, at=clock.now())
        did_something = False
        for name in organisations:
            if self._stopping.is_set():
                break
            did_something |= await self.one_of(TenantScope(name), lane=lane)
        return did_something

    async def one_of(self, scope: TenantScope, *, lane: str = SHORT) -> bool:
        """The piece of this organisation that has waited longest; whether there was one."""
        if lane != SHORT:
            return await self._take_and_do(scope, kinds=self._lanes[lane], other_kinds=False)
        # kinds that nobody knows are taken too, so that their rows say so
        others = [name for one, names in self._lanes.items() if one != SHORT for name in names]
        return await self._take_and_do(scope, kinds=others, other_kinds=True)

    async def do_now(self, scope: TenantScope, work_id: str) -> bool:
        """This piece, for somebody who waits; False where it is not due or another has it."""
        return await self._take_and_do(scope, work_id=work_id)

    async def _take_and_do(self, scope: TenantScope, **which: Any) -> bool:
        async with transaction(self._engine, scope.organisation_id) as db:
            row = await records.take_work(db, scope, at=clock.now(), lease=LEASE, **which)
        if row is None:
            return False
        taken = Job(
            scope, row.work_id, row.kind, row.subject, row.payload, row.progress, row.attempts
        )
        try:
            await self._do(taken)
        except Exception as error:  # noqa: BLE001  # whatever it was, the row must say so
            await self._went_wrong(taken, error)
        return True

    async def _do(self, taken: Job) -> None:
        kind = self._kinds.get(taken.kind)
        if kind is None:
            raise LookupError("no such kind of work")
        if kind.prepare is not None:
            taken = replace(taken, prepared=await self._prepared(kind.prepare, taken))
        async with transaction(self._engine, taken.scope.organisation_id) as db:
            again = await self._held(taken, kind.do(db, taken), every=HOLD_EVERY_SECONDS)
            ours = await records.finish_work(
                db, taken.scope, taken.work_id, attempt=taken.attempt, at=clock.now()
            )
            if not ours:
                raise RuntimeError("another process took this over")
            again = clock.now() + kind.every if kind.every is not None else again
            if again is not None:
                await records.add_job(db, taken.scope, kind.name, due=again, subject=taken.subject)

    async def _prepared(self, prepare: Preparer, taken: Job) -> Any:
        """Outside any transaction; stopped when another process has taken the work over."""
        latest: dict[str, Any] = {}

        async def tell(progress: dict[str, Any]) -> None:
            latest.update(progress)

        return await self._held(
            taken, prepare(taken, tell), every=TELL_EVERY_SECONDS, progress=latest
        )

    async def _held(
        self,
        taken: Job,
        doing: Awaitable[T],
        *,
        every: float,
        progress: dict[str, Any] | None = None,
    ) -> T:
        """However long it takes, nobody else takes it meanwhile; stopped where somebody did."""
        task = asyncio.ensure_future(doing)
        try:
            while not (await asyncio.wait([task], timeout=every))[0]:
                await self._hold_on(taken, progress)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _hold_on(self, taken: Job, progress: dict[str, Any] | None) -> None:
        async with transaction(self._engine, taken.scope.organisation_id) as db:
            held = await records.hold_on(
                db,
                taken.scope,
                taken.work_id,
                attempt=taken.attempt,
                until=clock.now() + LEASE,
                progress=progress,
            )
        if not held:
            raise RuntimeError("another process took this over")

    async def _went_wrong(self, taken: Job, error: Exception) -> None:
        log.warning(
            "work_failed",
            work_id=taken.work_id,
            kind=taken.kind,
            attempt=taken.attempt,
            exc_info=error,
        )
        kind = self._kinds.get(taken.kind)
        due = _next_try(taken, kind)
        with suppress(_TakenOver):
            async with transaction(self._engine, taken.scope.organisation_id) as db:
                # what it is about before its row, as requests take them: nobody waits in a circle
                if due is None and kind is not None and kind.give_up is not None:
                    await kind.give_up(db, taken)
                ours = await records.put_off(
                    db,
                    taken.scope,
                    taken.work_id,
                    attempt=taken.attempt,
                    at=clock.now(),
                    due=due,
                    reason=type(error).__name__,
                )
                if not ours:
                    raise _TakenOver


def _next_try(taken: Job, kind: JobType | None) -> datetime | None:
    """Later each time; what comes back by itself is never given up."""
    recurring = kind is not None and kind.every is not None
    most = ATTEMPTS_MAX if kind is None else kind.attempts_max
    if taken.attempt >= most and not recurring:
        return None
    return clock.now() + timedelta(seconds=min(2**taken.attempt, 600))
