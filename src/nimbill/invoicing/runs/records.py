"""Runs that make invoices: who asked for which, how far they are, what they left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata
from nimbill.foundation import clock, exact_json
from nimbill.foundation.ids import new_id
from nimbill.jobs.records import add_job, jobs

CREATE_INVOICES = "create_invoices"

invoice_runs = sa.Table(
    "invoice_runs",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("groups_hash", sa.LargeBinary, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("work_id", sa.Text, nullable=False),
    sa.Column("groups", sa.Integer, nullable=False),
    sa.Column("skipped", sa.Text),  # JSON: company_id to the reason, once it is done
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

invoice_run_keys = sa.Table(
    "invoice_run_keys",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("key_hash", sa.LargeBinary, primary_key=True),
    sa.Column("run_id", sa.Text, nullable=False),
)

_runs, _keys = invoice_runs.c, invoice_run_keys.c


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a run is to make; two that ask for the same are one while it runs."""

    month: str
    vendor: str
    company_ids: Sequence[str]
    groups_hash: bytes
    actor: Mapping[str, Any]  # for the audit rows


async def to_join(
    db: AsyncConnection, scope: TenantScope, asked: RunRequest, key_hash: bytes | None
) -> str | None:
    """The run of this key, or the one that is running for the same groups."""
    if key_hash is not None:
        of_key = sa.select(_keys.run_id).where(
            _keys.organisation_id == scope.organisation_id, _keys.key_hash == key_hash
        )
        earlier: str | None = (await db.execute(of_key)).scalar_one_or_none()
        if earlier is not None:
            return earlier
    running = await _running(db, scope, asked)
    if running is not None:
        await _note_key(db, scope, key_hash, running)
    return running


async def start_or_join(
    db: AsyncConnection, scope: TenantScope, asked: RunRequest, key_hash: bytes | None
) -> str:
    """A new run, where none to join has come up meanwhile."""
    run_id = None
    while run_id is None:  # the one in the way may have finished meanwhile
        run_id = await _started(db, scope, asked) or await _running(db, scope, asked)
    await _note_key(db, scope, key_hash, run_id)
    return run_id


async def _note_key(
    db: AsyncConnection, scope: TenantScope, key_hash: bytes | None, run_id: str
) -> None:
    if key_hash is not None:
        await db.execute(
            insert(invoice_run_keys)
            .values(organisation_id=scope.organisation_id, key_hash=key_hash, run_id=run_id)
            .on_conflict_do_nothing()
        )


async def _started(db: AsyncConnection, scope: TenantScope, asked: RunRequest) -> str | None:
    run_id = new_id("run")
    payload = {
        "month": asked.month,
        "vendor": asked.vendor,
        "company_ids": list(asked.company_ids),
        "actor": dict(asked.actor),
    }
    added = await db.execute(
        insert(invoice_runs)
        .values(
            organisation_id=scope.organisation_id,
            run_id=run_id,
            month=asked.month,
            vendor=asked.vendor,
            groups_hash=asked.groups_hash,
            state="running",
            work_id="",
            groups=len(asked.company_ids),
        )
        .on_conflict_do_nothing()
    )
    if not added.rowcount:
        return None
    work_id = await add_job(
        db, scope, CREATE_INVOICES, due=clock.now(), subject=run_id, payload=payload
    )
    await db.execute(sa.update(invoice_runs).where(*_one(scope, run_id)).values(work_id=work_id))
    return run_id


async def _running(db: AsyncConnection, scope: TenantScope, asked: RunRequest) -> str | None:
    question = sa.select(_runs.run_id).where(
        _runs.organisation_id == scope.organisation_id,
        _runs.month == asked.month,
        _runs.vendor == asked.vendor,
        _runs.groups_hash == asked.groups_hash,
        _runs.state == "running",
    )
    found: str | None = (await db.execute(question)).scalar_one_or_none()
    return found


def _one(scope: TenantScope, run_id: str) -> list[sa.ColumnElement[bool]]:
    return [_runs.organisation_id == scope.organisation_id, _runs.run_id == run_id]


async def find_run(db: AsyncConnection, scope: TenantScope, run_id: str) -> Row | None:
    return (await db.execute(_with_progress().where(*_one(scope, run_id)))).one_or_none()


async def runs_of_month(db: AsyncConnection, scope: TenantScope, month: str) -> Sequence[Row]:
    """The newest first."""
    question = (
        _with_progress()
        .where(_runs.organisation_id == scope.organisation_id, _runs.month == month)
        .order_by(_runs.create_time.desc(), _runs.run_id)
        .limit(100)
    )
    return (await db.execute(question)).all()


def _with_progress() -> sa.Select[*tuple[Any, ...]]:
    same = (jobs.c.organisation_id == _runs.organisation_id) & (jobs.c.work_id == _runs.work_id)
    return sa.select(invoice_runs, jobs.c.progress).join_from(
        invoice_runs, jobs, same, isouter=True
    )


async def finish_run(
    db: AsyncConnection, scope: TenantScope, run_id: str, skipped: Mapping[str, str]
) -> None:
    await db.execute(
        sa.update(invoice_runs)
        .where(*_one(scope, run_id))
        .values(
            state="done",
            skipped=exact_json.write(dict(skipped)).decode(),
            update_time=sa.func.now(),
        )
    )
