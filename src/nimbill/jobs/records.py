"""Stored work: what is to be done later, who has taken it, how far it is."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows
from nimbill.foundation.ids import new_id

jobs = sa.Table(
    "work",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("work_id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("payload", JSONB, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("due", sa.DateTime(timezone=True), nullable=False),
    sa.Column("lease_until", sa.DateTime(timezone=True)),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("progress", JSONB, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def add_job(
    db: AsyncConnection,
    scope: TenantScope,
    kind: str,
    *,
    due: datetime,
    subject: str = "",
    payload: dict[str, Any] | None = None,
) -> str | None:
    """Written in the transaction of the request; None where the same is waiting already."""
    work_id = new_id("wrk")
    added = await db.execute(
        insert(jobs)
        .values(
            organisation_id=scope.organisation_id,
            work_id=work_id,
            kind=kind,
            subject=subject or work_id,
            payload=payload or {},
            state="waiting",
            due=due,
        )
        .on_conflict_do_nothing()
    )
    return work_id if added.rowcount else None


async def hasten(
    db: AsyncConnection, scope: TenantScope, kind: str, *, subject: str, due: datetime
) -> None:
    """What waits for a later moment waits no longer than until this one."""
    await db.execute(
        sa.update(jobs)
        .where(
            jobs.c.organisation_id == scope.organisation_id,
            jobs.c.kind == kind,
            jobs.c.subject == subject,
            jobs.c.state == "waiting",
            jobs.c.due > due,
        )
        .values(due=due)
    )


async def take_work(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    at: datetime,
    lease: timedelta,
    kinds: Collection[str] = (),
    other_kinds: bool = True,
    work_id: str | None = None,
) -> Row | None:
    """The oldest due row nobody holds; also one whose holder died and let its lease run out.

    Of these kinds, or of all but these; or the one that is named, if it is due.
    """
    of_kinds = visible_rows(jobs.c.kind, kinds)
    if work_id is not None:
        wanted: sa.ColumnElement[bool] = jobs.c.work_id == work_id
    else:
        wanted = sa.not_(of_kinds) if other_kinds else of_kinds
    due = (
        sa.select(jobs.c.work_id)
        .where(
            jobs.c.organisation_id == scope.organisation_id,
            wanted,
            sa.or_(
                sa.and_(jobs.c.state == "waiting", jobs.c.due <= at),
                sa.and_(jobs.c.state == "running", jobs.c.lease_until < at),
            ),
        )
        .order_by(jobs.c.due)
        .limit(1)
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    taken = await db.execute(
        sa.update(jobs)
        .where(jobs.c.organisation_id == scope.organisation_id, jobs.c.work_id == due)
        .values(
            state="running",
            lease_until=at + lease,
            attempts=jobs.c.attempts + 1,
            update_time=at,
        )
        .returning(jobs)
    )
    row: Row | None = taken.one_or_none()
    return row


async def hold_on(
    db: AsyncConnection,
    scope: TenantScope,
    work_id: str,
    *,
    attempt: int,
    until: datetime,
    progress: dict[str, Any] | None = None,
) -> bool:
    """Extend the lease and note progress; False when another process has taken it over."""
    values: dict[str, Any] = {"lease_until": until}
    if progress is not None:
        values["progress"] = progress
    held = await db.execute(sa.update(jobs).where(*_held(scope, work_id, attempt)).values(**values))
    return bool(held.rowcount)


async def finish_work(
    db: AsyncConnection, scope: TenantScope, work_id: str, *, attempt: int, at: datetime
) -> bool:
    done = await db.execute(
        sa.update(jobs)
        .where(*_held(scope, work_id, attempt))
        .values(state="done", lease_until=None, reason=None, update_time=at)
    )
    return bool(done.rowcount)


async def put_off(
    db: AsyncConnection,
    scope: TenantScope,
    work_id: str,
    *,
    attempt: int,
    at: datetime,
    due: datetime | None,
    reason: str,
) -> bool:
    """It went wrong: due again later, or failed for good when `due` is None; if still ours."""
    values: dict[str, Any] = {"lease_until": None, "reason": reason, "update_time": at}
    values |= {"state": "failed"} if due is None else {"state": "waiting", "due": due}
    done = await db.execute(sa.update(jobs).where(*_held(scope, work_id, attempt)).values(**values))
    return bool(done.rowcount)


async def forget_payload(db: AsyncConnection, scope: TenantScope, work_id: str) -> None:
    """Once it is done: what was to be done may be a secret."""
    await db.execute(
        sa.update(jobs)
        .where(jobs.c.organisation_id == scope.organisation_id, jobs.c.work_id == work_id)
        .values(payload={})
    )


async def delete_old_jobs(db: AsyncConnection, scope: TenantScope, *, before: datetime) -> None:
    """What was done or given up that long ago; what comes back by itself is waiting, and stays."""
    await db.execute(
        sa.delete(jobs).where(
            jobs.c.organisation_id == scope.organisation_id,
            jobs.c.state.in_(("done", "failed")),
            jobs.c.update_time < before,
        )
    )


def _held(scope: TenantScope, work_id: str, attempt: int) -> list[sa.ColumnElement[bool]]:
    """Still ours: a row taken over by another process has a later attempt."""
    return [
        jobs.c.organisation_id == scope.organisation_id,
        jobs.c.work_id == work_id,
        jobs.c.state == "running",
        jobs.c.attempts == attempt,
    ]


async def find_work(db: AsyncConnection, scope: TenantScope, work_id: str) -> Row | None:
    question = sa.select(jobs).where(
        jobs.c.organisation_id == scope.organisation_id, jobs.c.work_id == work_id
    )
    return (await db.execute(question)).one_or_none()


async def organisations_with_work(db: AsyncConnection, *, at: datetime) -> list[str]:
    """Where something is due; the ids alone, the rows stay behind their organisation's wall."""
    found = await db.execute(sa.select(sa.func.organisations_with_work(at)))
    return list(found.scalars())
