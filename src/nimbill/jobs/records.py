"""Store jobs: add, claim under a lease, complete, reschedule, delete."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_tenant,
)
from nimbill.foundation.ids import new_id

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("job_id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("payload", JSONB, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("due", sa.DateTime(timezone=True), nullable=False),
    sa.Column("leased_until", sa.DateTime(timezone=True)),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("progress", JSONB, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def add_job(
    db: AsyncConnection,
    scope: TenantScope,
    job_type: str,
    *,
    due: datetime,
    subject: str = "",
    payload: dict[str, Any] | None = None,
) -> str | None:
    """Add a job in the caller's transaction and return its id.

    Return None when a job of this type and subject is already waiting or running.
    A job without a subject never equals another.
    """
    job_id = new_id("job")
    stmt = (
        insert(jobs)
        .values(
            organisation_id=scope.organisation_id,
            job_id=job_id,
            kind=job_type,
            subject=subject or job_id,
            payload=payload or {},
            state="waiting",
            due=due,
        )
        .on_conflict_do_nothing()
    )
    result = await db.execute(stmt)
    return job_id if result.rowcount else None


async def add_jobs(
    db: AsyncConnection,
    scope: TenantScope,
    job_type: str,
    *,
    due: datetime,
    subjects: Collection[str],
) -> None:
    """Add one job for each of these subjects, which have none yet."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "job_id": new_id("job"),
            "kind": job_type,
            "subject": subject,
            "payload": {},
            "state": "waiting",
            "due": due,
        }
        for subject in subjects
    ]
    await db.execute(sa.insert(jobs), rows)


async def run_sooner(
    db: AsyncConnection, scope: TenantScope, job_type: str, *, subject: str, due: datetime
) -> None:
    """Move a waiting job forward to `due`. A job that is due earlier does not change."""
    stmt = (
        sa.update(jobs)
        .where(
            of_tenant(jobs, scope),
            jobs.c.kind == job_type,
            jobs.c.subject == subject,
            jobs.c.state == "waiting",
            jobs.c.due > due,
        )
        .values(due=due)
    )
    await db.execute(stmt)


async def claim_job(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    at: datetime,
    lease: timedelta,
    job_types: Collection[str] = (),
    exclude_types: bool = True,
    job_id: str | None = None,
    one_at_a_time: Collection[str] = (),
) -> Row | None:
    """Lease the job that has been due for longest and return its row.

    A running job whose lease has expired is claimed again: its process has died.
    Choose among `job_types`, or among all others with `exclude_types`, or exactly `job_id`.
    Of each type in `one_at_a_time`, only one job of the organisation runs; the others wait.
    """
    if one_at_a_time:
        await advisory_lock(db, f"claims {scope.organisation_id}")
    of_types = is_any_of(jobs.c.kind, job_types)
    if job_id is not None:
        selected: sa.ColumnElement[bool] = jobs.c.job_id == job_id
    else:
        selected = sa.not_(of_types) if exclude_types else of_types
    due_job_id = (
        sa.select(jobs.c.job_id)
        .where(
            of_tenant(jobs, scope),
            selected,
            sa.or_(
                sa.and_(jobs.c.state == "waiting", jobs.c.due <= at),
                sa.and_(jobs.c.state == "running", jobs.c.leased_until < at),
            ),
            sa.not_(_waits_for_another(scope, at, one_at_a_time)),
        )
        .order_by(jobs.c.due)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    stmt = (
        sa.update(jobs)
        .where(of_tenant(jobs, scope), jobs.c.job_id == due_job_id)
        .values(
            state="running",
            leased_until=at + lease,
            attempts=jobs.c.attempts + 1,
            update_time=at,
        )
        .returning(jobs)
    )
    row: Row | None = (await db.execute(stmt)).one_or_none()
    return row


def _waits_for_another(
    scope: TenantScope, at: datetime, one_at_a_time: Collection[str]
) -> sa.ColumnElement[bool]:
    """Match a job while another one of its type has a valid lease."""
    other = jobs.alias("other")
    is_running = sa.exists().where(
        of_tenant(other, scope),
        other.c.kind == jobs.c.kind,
        other.c.job_id != jobs.c.job_id,
        other.c.state == "running",
        other.c.leased_until >= at,
    )
    return sa.and_(is_any_of(jobs.c.kind, one_at_a_time), is_running)


async def renew_lease(
    db: AsyncConnection,
    scope: TenantScope,
    job_id: str,
    *,
    attempt: int,
    until: datetime,
    progress: dict[str, Any] | None = None,
) -> bool:
    """Extend the lease and store progress. Return False if another process has the lease."""
    values: dict[str, Any] = {"leased_until": until}
    if progress is not None:
        values["progress"] = progress
    stmt = sa.update(jobs).where(*_is_leased(scope, job_id, attempt)).values(**values)
    return bool((await db.execute(stmt)).rowcount)


async def complete_job(
    db: AsyncConnection, scope: TenantScope, job_id: str, *, attempt: int, at: datetime
) -> bool:
    """Return False if another process has the lease."""
    stmt = (
        sa.update(jobs)
        .where(*_is_leased(scope, job_id, attempt))
        .values(state="done", leased_until=None, reason=None, update_time=at)
    )
    return bool((await db.execute(stmt)).rowcount)


async def reschedule(
    db: AsyncConnection,
    scope: TenantScope,
    job_id: str,
    *,
    attempt: int,
    at: datetime,
    due: datetime | None,
    reason: str,
) -> bool:
    """Retry a failed attempt at `due`, or mark the job as failed if `due` is None.

    Return False if another process has the lease.
    """
    values: dict[str, Any] = {"leased_until": None, "reason": reason, "update_time": at}
    values |= {"state": "failed"} if due is None else {"state": "waiting", "due": due}
    stmt = sa.update(jobs).where(*_is_leased(scope, job_id, attempt)).values(**values)
    return bool((await db.execute(stmt)).rowcount)


async def release_job(
    db: AsyncConnection, scope: TenantScope, job_id: str, *, attempt: int
) -> None:
    """Let the next process claim an interrupted job at once, without counting the attempt.

    The interrupted attempt must have ended: the next one gets the same number.
    """
    stmt = (
        sa.update(jobs)
        .where(*_is_leased(scope, job_id, attempt))
        .values(state="waiting", leased_until=None, attempts=attempt - 1)
    )
    await db.execute(stmt)


async def clear_payload(db: AsyncConnection, scope: TenantScope, job_id: str) -> None:
    """Remove a payload that holds secrets as soon as the job does not need it any more."""
    stmt = sa.update(jobs).where(of_tenant(jobs, scope), jobs.c.job_id == job_id).values(payload={})
    await db.execute(stmt)


async def delete_old_jobs(db: AsyncConnection, scope: TenantScope, *, before: datetime) -> None:
    """Delete jobs that were completed or failed before this time."""
    stmt = sa.delete(jobs).where(
        of_tenant(jobs, scope), jobs.c.state.in_(("done", "failed")), jobs.c.update_time < before
    )
    await db.execute(stmt)


def _is_leased(scope: TenantScope, job_id: str, attempt: int) -> list[sa.ColumnElement[bool]]:
    """Match the job only while this attempt has the lease: each claim increments `attempts`."""
    return [
        of_tenant(jobs, scope),
        jobs.c.job_id == job_id,
        jobs.c.state == "running",
        jobs.c.attempts == attempt,
    ]


async def list_organisations_with_due_jobs(
    db: AsyncConnection,
    *,
    at: datetime,
    job_types: Collection[str] = (),
    exclude_types: bool = True,
) -> list[str]:
    """Return ids only. Row-level security hides the jobs themselves from this connection.

    `job_types` are those that count, or with `exclude_types` those that do not.
    """
    kinds = sa.literal(list(job_types), ARRAY(sa.Text))
    stmt = sa.select(sa.func.organisations_with_due_jobs(at, kinds, exclude_types))
    return list((await db.execute(stmt)).scalars())


async def has_running_jobs(db: AsyncConnection, scope: TenantScope, *, at: datetime) -> bool:
    """Whether a process is working on a job of the organisation."""
    stmt = sa.select(
        sa.exists().where(
            of_tenant(jobs, scope), jobs.c.state == "running", jobs.c.leased_until > at
        )
    )
    return bool((await db.execute(stmt)).scalar_one())
