"""Tables and queries of invoice runs: what was requested, the progress, and the skipped groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_period, of_tenant
from nimbill.foundation import clock, exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.ids import new_id
from nimbill.invoicing.documents.bodies import InvoiceRun
from nimbill.invoicing.documents.run_invoices import list_run_invoices
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
    sa.Column("job_id", sa.Text, nullable=False),
    sa.Column("company_ids", ARRAY(sa.Text), nullable=False),
    sa.Column("group_count", sa.Integer, nullable=False),
    sa.Column("skipped", sa.Text),  # JSON: company_id to reason; null until the run is done
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
    """The invoices to create. A request equal to that of a running run joins the run."""

    period: BillingPeriod
    company_ids: Sequence[str]
    groups_hash: bytes
    actor: Mapping[str, Any]  # for the audit log


async def find_run_to_join(
    db: AsyncConnection, scope: TenantScope, request: RunRequest, key_hash: bytes | None
) -> str | None:
    """Find the run started with the same idempotency key, or one running for the same groups."""
    if key_hash is not None:
        stmt = sa.select(_keys.run_id).where(
            of_tenant(invoice_run_keys, scope), _keys.key_hash == key_hash
        )
        run_id: str | None = (await db.execute(stmt)).scalar_one_or_none()
        if run_id is not None:
            return run_id
    running = await _find_running(db, scope, request)
    if running is not None:
        await _save_key(db, scope, key_hash, running)
    return running


async def start_or_join_run(
    db: AsyncConnection, scope: TenantScope, request: RunRequest, key_hash: bytes | None
) -> str:
    """Start a run, or join one that another request has started in the meantime."""
    run_id = None
    while run_id is None:  # a run that prevented the start may have finished since
        run_id = await _start_run(db, scope, request) or await _find_running(db, scope, request)
    await _save_key(db, scope, key_hash, run_id)
    return run_id


async def _save_key(
    db: AsyncConnection, scope: TenantScope, key_hash: bytes | None, run_id: str
) -> None:
    if key_hash is not None:
        await db.execute(
            insert(invoice_run_keys)
            .values(organisation_id=scope.organisation_id, key_hash=key_hash, run_id=run_id)
            .on_conflict_do_nothing()
        )


async def _start_run(db: AsyncConnection, scope: TenantScope, request: RunRequest) -> str | None:
    run_id = new_id("run")
    payload = {
        "month": request.period.month,
        "vendor": request.period.vendor,
        "company_ids": list(request.company_ids),
        "actor": dict(request.actor),
    }
    inserted = await db.execute(
        insert(invoice_runs)
        .values(
            organisation_id=scope.organisation_id,
            run_id=run_id,
            month=request.period.month,
            vendor=request.period.vendor,
            groups_hash=request.groups_hash,
            state="running",
            job_id="",
            company_ids=list(request.company_ids),
            group_count=len(request.company_ids),
        )
        .on_conflict_do_nothing()
    )
    if not inserted.rowcount:
        return None
    job_id = await add_job(
        db, scope, CREATE_INVOICES, due=clock.now(), subject=run_id, payload=payload
    )
    await db.execute(
        sa.update(invoice_runs).where(*_filter_run(scope, run_id)).values(job_id=job_id)
    )
    return run_id


async def _find_running(db: AsyncConnection, scope: TenantScope, request: RunRequest) -> str | None:
    stmt = sa.select(_runs.run_id).where(
        of_tenant(invoice_runs, scope),
        of_period(invoice_runs, request.period),
        _runs.groups_hash == request.groups_hash,
        _runs.state == "running",
    )
    run_id: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return run_id


async def list_running_runs(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[str]:
    """List the ids of all runs of the period that are not finished."""
    stmt = (
        sa.select(_runs.run_id)
        .where(
            of_tenant(invoice_runs, scope),
            of_period(invoice_runs, period),
            _runs.state == "running",
        )
        .order_by(_runs.create_time, _runs.run_id)
    )
    return list((await db.execute(stmt)).scalars())


def _filter_run(scope: TenantScope, run_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(invoice_runs, scope), _runs.run_id == run_id]


async def find_run(db: AsyncConnection, scope: TenantScope, run_id: str) -> Row | None:
    return (
        await db.execute(_select_with_progress().where(*_filter_run(scope, run_id)))
    ).one_or_none()


async def list_runs(db: AsyncConnection, scope: TenantScope, month: str) -> list[InvoiceRun]:
    """List at most 100 runs, the newest first.

    Callers restricted to certain billing groups see runs for some of these groups, and the figures
    count these groups only.
    """
    stmt = (
        _select_with_progress()
        .where(of_tenant(invoice_runs, scope), _runs.month == month)
        .order_by(_runs.create_time.desc(), _runs.run_id)
        .limit(100)
    )
    if scope.billing_groups is not None:
        visible_ids = sa.literal(sorted(scope.billing_groups), ARRAY(sa.Text))
        stmt = stmt.where(_runs.company_ids.overlap(visible_ids))
    rows = (await db.execute(stmt)).all()
    if scope.billing_groups is None:
        return [_build_run(row) for row in rows]
    return [await _build_visible_run(db, scope, row, scope.billing_groups) for row in rows]


async def _build_visible_run(
    db: AsyncConnection, scope: TenantScope, row: Row, visible: frozenset[str]
) -> InvoiceRun:
    """While the run is in progress, skipped groups are not known one by one."""
    groups = visible.intersection(row.company_ids)
    if row.skipped is None:
        created = await list_run_invoices(db, scope, row.run_id)
        skipped, done = 0, len(groups.intersection(invoice.company_id for invoice in created))
    else:
        skipped = len(groups.intersection(exact_json.decode_stored(row.skipped)))
        done = len(groups)
    return InvoiceRun(
        run_id=row.run_id,
        month=row.month,
        vendor=row.vendor,
        state=row.state,
        groups=len(groups),
        done=done,
        skipped=skipped,
        create_time=clock.format_timestamp(row.create_time),
    )


def _build_run(row: Row) -> InvoiceRun:
    skipped = None if row.skipped is None else exact_json.decode_stored(row.skipped)
    progress = row.progress or {}
    return InvoiceRun(
        run_id=row.run_id,
        month=row.month,
        vendor=row.vendor,
        state=row.state,
        groups=row.group_count,
        done=progress.get("done", 0) if skipped is None else row.group_count,
        skipped=progress.get("skipped", 0) if skipped is None else len(skipped),
        create_time=clock.format_timestamp(row.create_time),
    )


def _select_with_progress() -> sa.Select[*tuple[Any, ...]]:
    same_job = (jobs.c.organisation_id == _runs.organisation_id) & (jobs.c.job_id == _runs.job_id)
    return sa.select(invoice_runs, jobs.c.progress).join_from(
        invoice_runs, jobs, same_job, isouter=True
    )


async def finish_run(
    db: AsyncConnection, scope: TenantScope, run_id: str, skipped: Mapping[str, str]
) -> None:
    await db.execute(
        sa.update(invoice_runs)
        .where(*_filter_run(scope, run_id))
        .values(
            state="done",
            skipped=exact_json.encode(dict(skipped)).decode(),
            update_time=sa.func.now(),
        )
    )
