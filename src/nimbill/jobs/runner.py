"""Run due jobs: one loop per lane in each process, with leases and retries."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypedDict, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import TenantScope, is_database_unavailable, transaction
from nimbill.foundation import clock
from nimbill.jobs import records
from nimbill.jobs.parallel_lane import ParallelLane

log = structlog.get_logger()

T = TypeVar("T")

LEASE = timedelta(seconds=60)
POLL_SECONDS = 1.0
PROGRESS_SECONDS = 1.0
LEASE_RENEWAL_SECONDS = LEASE.total_seconds() / 3
ATTEMPTS_MAX = 8
RETRY_SECONDS_MAX = 600
RELEASE_SECONDS_MAX = 5.0

# Lanes run concurrently. In a process, SHORT and LONG run one job at a time each.
SHORT = "short"
LONG = "long"
PARALLEL = "parallel"  # several at once, see parallel_lane.py


@dataclass(frozen=True, slots=True)
class Job:
    """A job that this process has leased."""

    scope: TenantScope
    job_id: str
    job_type: str
    subject: str
    payload: dict[str, Any]
    progress: dict[str, Any]
    attempt: int
    prepared: Any = None  # result of the job type's `prepare`
    failure: Exception | None = None  # the last error, for `on_failure`


# Runs in the transaction that completes the job: both are committed, or neither is.
# A returned time adds the next job of the same type and subject.
JobHandler = Callable[[AsyncConnection, Job], Awaitable[datetime | None]]
# Stores progress with the next renewal of the lease.
ReportProgress = Callable[[dict[str, Any]], Awaitable[None]]
JobPreparer = Callable[[Job, ReportProgress], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class JobType:
    name: str
    run: JobHandler
    every: timedelta | None = None  # interval of a recurring job
    attempts_max: int = ATTEMPTS_MAX
    # long work that runs before the transaction is opened
    prepare: JobPreparer | None = None
    # runs in the transaction that marks the job as failed after the last attempt
    on_failure: JobHandler | None = None
    lane: str | None = None  # default: LONG with `prepare`, SHORT without
    one_per_organisation: bool = False  # further jobs of the organisation wait

    @property
    def effective_lane(self) -> str:
        return self.lane or (SHORT if self.prepare is None else LONG)


class _TypeSelection(TypedDict):
    """The types of a lane: these, or all others."""

    job_types: list[str]
    exclude_types: bool


class ProcessDied(Exception):
    """Every attempt ended with the death of its process, for example for lack of memory."""


class _LeaseLost(Exception):
    """Another process has claimed the job; nothing that this process did may be committed."""


class JobRunner:
    def __init__(self, engine: AsyncEngine, job_types: list[JobType]) -> None:
        self._engine = engine
        self._job_types = {job_type.name: job_type for job_type in job_types}
        self._types_by_lane: dict[str, list[str]] = {SHORT: [], LONG: []}
        for job_type in job_types:
            self._types_by_lane.setdefault(job_type.effective_lane, []).append(job_type.name)
        self._one_at_a_time = [each.name for each in job_types if each.one_per_organisation]
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Run all lanes until `stop` is called."""
        loops = {
            lane: asyncio.create_task(
                self._loop_in_parallel() if lane == PARALLEL else self._loop(lane)
            )
            for lane in self._types_by_lane
        }
        try:
            await self._stopping.wait()
        except asyncio.CancelledError:
            for loop in loops.values():
                loop.cancel()
            raise
        finally:
            # A long job is interrupted; the next runner starts it again.
            loops[LONG].cancel()
            await asyncio.gather(*loops.values(), return_exceptions=True)

    async def _loop(self, lane: str) -> None:
        """Poll for due jobs. An unavailable database does not end the loop."""
        while not self._stopping.is_set():
            try:
                has_run = await self.run_once(lane=lane)
            except Exception as error:
                if not is_database_unavailable(error):
                    log.error("job_loop_failed", exc_info=error)
                has_run = False
            if not has_run:
                await self._wait(POLL_SECONDS)

    async def _loop_in_parallel(self) -> None:
        """Like `_loop`, but without waiting for the jobs that it has started."""
        lane = ParallelLane(lambda scope: self.run_next(scope, lane=PARALLEL))
        try:
            while not self._stopping.is_set():
                try:
                    lane.start(await self._list_organisations(PARALLEL))
                except Exception as error:
                    if not is_database_unavailable(error):
                        log.error("job_loop_failed", exc_info=error)
                await self._wait(POLL_SECONDS)
        finally:
            await lane.stop()

    async def _list_organisations(self, lane: str) -> list[str]:
        """List the organisations that have due jobs of the lane."""
        async with self._engine.connect() as db:
            return await records.list_organisations_with_due_jobs(
                db, at=clock.now(), **self._select_types(lane)
            )

    def _select_types(self, lane: str) -> _TypeSelection:
        """The short lane also takes jobs of unknown types, so that they are marked as failed."""
        if lane != SHORT:
            return {"job_types": self._types_by_lane[lane], "exclude_types": False}
        others = [
            name
            for other_lane, names in self._types_by_lane.items()
            if other_lane != SHORT
            for name in names
        ]
        return {"job_types": others, "exclude_types": True}

    def stop(self) -> None:
        self._stopping.set()

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return

    async def run_once(self, *, lane: str = SHORT) -> bool:
        """Run one due job of every organisation. Return whether any job was run."""
        has_run = False
        for organisation_id in await self._list_organisations(lane):
            if self._stopping.is_set():
                break
            has_run |= await self.run_next(TenantScope(organisation_id), lane=lane)
        return has_run

    async def run_next(self, scope: TenantScope, *, lane: str = SHORT) -> bool:
        """Run the job of this organisation that is due for longest. Return False if none is due."""
        return await self._claim_and_run(scope, **self._select_types(lane))

    async def run_now(self, scope: TenantScope, job_id: str) -> bool:
        """Run this job at once. Return False if it is not due or another process runs it."""
        return await self._claim_and_run(scope, job_id=job_id)

    async def _claim_and_run(self, scope: TenantScope, **selection: Any) -> bool:
        claim = asyncio.ensure_future(self._claim(scope, **selection))
        try:
            job = await asyncio.shield(claim)
            if job is not None:
                await self._run_claimed(job)
        except asyncio.CancelledError:
            await self._release(claim)
            raise
        return job is not None

    async def _claim(self, scope: TenantScope, **selection: Any) -> Job | None:
        async with transaction(self._engine, scope.organisation_id) as db:
            row = await records.claim_job(
                db,
                scope,
                at=clock.now(),
                lease=LEASE,
                one_at_a_time=self._one_at_a_time,
                **selection,
            )
        if row is None:
            return None
        return Job(
            scope, row.job_id, row.kind, row.subject, row.payload, row.progress, row.attempts
        )

    async def _run_claimed(self, job: Job) -> None:
        try:
            await self._run(job)
        except Exception as error:  # noqa: BLE001  # every failure must reach the job's row
            await self._record_failure(job, error)

    async def _run(self, job: Job) -> None:
        job_type = self._job_types.get(job.job_type)
        if job_type is None:
            raise LookupError("unknown job type")
        if _has_used_all_attempts(job.attempt - 1, job_type):
            raise ProcessDied
        if job_type.prepare is not None:
            job = replace(job, prepared=await self._prepare(job_type.prepare, job))
        async with transaction(self._engine, job.scope.organisation_id) as db:
            next_due = await self._run_under_lease(
                job, job_type.run(db, job), renewal_seconds=LEASE_RENEWAL_SECONDS
            )
            completed = await records.complete_job(
                db, job.scope, job.job_id, attempt=job.attempt, at=clock.now()
            )
            if not completed:
                raise _LeaseLost
            if job_type.every is not None:
                next_due = clock.now() + job_type.every
            if next_due is not None:
                await records.add_job(
                    db, job.scope, job_type.name, due=next_due, subject=job.subject
                )

    async def _prepare(self, prepare: JobPreparer, job: Job) -> Any:
        """Prepare outside any transaction; cancelled when another process has claimed the job."""
        latest: dict[str, Any] = {}

        async def report(progress: dict[str, Any]) -> None:
            latest.update(progress)

        return await self._run_under_lease(
            job, prepare(job, report), renewal_seconds=PROGRESS_SECONDS, progress=latest
        )

    async def _run_under_lease(
        self,
        job: Job,
        awaitable: Awaitable[T],
        *,
        renewal_seconds: float,
        progress: dict[str, Any] | None = None,
    ) -> T:
        """Renew the lease until this is done; cancel it when the lease is lost."""
        task = asyncio.ensure_future(awaitable)
        try:
            while not (await asyncio.wait([task], timeout=renewal_seconds))[0]:
                await self._renew_lease(job, progress)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _renew_lease(self, job: Job, progress: dict[str, Any] | None) -> None:
        async with transaction(self._engine, job.scope.organisation_id) as db:
            renewed = await records.renew_lease(
                db,
                job.scope,
                job.job_id,
                attempt=job.attempt,
                until=clock.now() + LEASE,
                progress=progress,
            )
        if not renewed:
            raise _LeaseLost

    async def _release(self, claim: asyncio.Task[Job | None]) -> None:
        """Give a claimed job back when the process stops. If that fails, the lease expires."""
        job = await _complete(claim)
        if job is not None:
            await _complete(asyncio.ensure_future(self._store_release(job)))

    async def _store_release(self, job: Job) -> None:
        async with transaction(self._engine, job.scope.organisation_id) as db:
            await records.release_job(db, job.scope, job.job_id, attempt=job.attempt)

    async def _record_failure(self, job: Job, error: Exception) -> None:
        log.warning(
            "job_failed",
            job_id=job.job_id,
            job_type=job.job_type,
            attempt=job.attempt,
            exc_info=error,
        )
        job_type = self._job_types.get(job.job_type)
        due = _next_attempt_time(job, job_type)
        with suppress(_LeaseLost):
            async with transaction(self._engine, job.scope.organisation_id) as db:
                # Lock the job's subject before the job, as requests do, to avoid a deadlock.
                if due is None and job_type is not None and job_type.on_failure is not None:
                    await job_type.on_failure(db, replace(job, failure=error))
                rescheduled = await records.reschedule(
                    db,
                    job.scope,
                    job.job_id,
                    attempt=job.attempt,
                    at=clock.now(),
                    due=due,
                    reason=type(error).__name__,
                )
                if not rescheduled:
                    raise _LeaseLost


async def _complete(task: asyncio.Task[T]) -> T | None:
    """Wait for a short task, also if the waiting task is cancelled again. None if it fails."""
    timeout = asyncio.get_running_loop().call_later(RELEASE_SECONDS_MAX, task.cancel)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    timeout.cancel()
    if task.cancelled() or task.exception() is not None:
        log.warning("job_not_released", exc_info=None if task.cancelled() else task.exception())
        return None
    return task.result()


def _next_attempt_time(job: Job, job_type: JobType | None) -> datetime | None:
    """Back off exponentially. None after the last attempt."""
    if _has_used_all_attempts(job.attempt, job_type):
        return None
    return clock.now() + timedelta(seconds=min(2**job.attempt, RETRY_SECONDS_MAX))


def _has_used_all_attempts(attempts: int, job_type: JobType | None) -> bool:
    """Count failed attempts and those whose process died; a recurring job is always retried."""
    if job_type is not None and job_type.every is not None:
        return False
    return attempts >= (ATTEMPTS_MAX if job_type is None else job_type.attempts_max)
