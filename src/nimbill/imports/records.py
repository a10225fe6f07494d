"""Stored imports and the questions asked of them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import cost_months
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows
from nimbill.foundation import clock, exact_json
from nimbill.imports.bodies import (
    ImportProblem,
    ImportRecord,
    ImportState,
    ImportTotal,
    ProposedEntry,
)
from nimbill.jobs.records import jobs

__all__ = ["ImportRecord", "ImportState"]  # the command line speaks of them too

cost_imports = sa.Table(
    "cost_imports",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("import_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("month", sa.Text),
    sa.Column("sources", ARRAY(sa.Text), nullable=False),
    sa.Column("uploaded", sa.Boolean, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("identity", sa.Text),
    sa.Column("assembly", sa.Text),
    sa.Column("assembled_at", sa.DateTime(timezone=True)),
    sa.Column("lines", sa.BigInteger, nullable=False),
    sa.Column("provisional", sa.Boolean),
    sa.Column("report", sa.Text, nullable=False),
    sa.Column("problem", sa.Text),
    sa.Column("parked_reason", sa.Text),
    sa.Column("release_reason", sa.Text),
    sa.Column("made_by", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
_imports = cost_imports.c
IMPORT_COSTS = "import_costs"


def _one(scope: TenantScope, import_id: str) -> list[sa.ColumnElement[bool]]:
    return [_imports.organisation_id == scope.organisation_id, _imports.import_id == import_id]


async def add_import(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    import_id: str,
    vendor: str,
    month: str | None,
    sources: Sequence[str],
    uploaded: bool,
    made_by: str,
) -> None:
    await db.execute(
        sa.insert(cost_imports).values(
            organisation_id=scope.organisation_id,
            import_id=import_id,
            vendor=vendor,
            month=month,
            sources=list(sources),
            uploaded=uploaded,
            state=ImportState.waiting,
            made_by=made_by,
        )
    )


async def change_import(
    db: AsyncConnection, scope: TenantScope, import_id: str, **values: Any
) -> None:
    """A report and a problem are kept as the text of exact JSON."""
    for name in ("report", "problem"):
        if values.get(name) is not None:
            values[name] = exact_json.write(values[name]).decode()
    await db.execute(
        sa.update(cost_imports)
        .where(*_one(scope, import_id))
        .values(**values, update_time=clock.now())
    )


async def lock_import(db: AsyncConnection, scope: TenantScope, import_id: str) -> Row | None:
    question = sa.select(cost_imports).where(*_one(scope, import_id)).with_for_update()
    return (await db.execute(question)).one_or_none()


async def find_import(
    db: AsyncConnection, scope: TenantScope, import_id: str
) -> ImportRecord | None:
    rows = await _records(db, scope, *_one(scope, import_id))
    return rows[0] if rows else None


async def list_imports(
    db: AsyncConnection, scope: TenantScope, *, limit: int | None, offset: int
) -> list[ImportRecord]:
    """The newest first; none to who sees only some billing groups."""
    return await _records(db, scope, limit=limit, offset=offset)


async def _records(
    db: AsyncConnection,
    scope: TenantScope,
    *conditions: sa.ColumnElement[bool],
    limit: int | None = None,
    offset: int = 0,
) -> list[ImportRecord]:
    if scope.billing_groups is not None:
        return []
    doing = (
        sa.select(jobs.c.progress)
        .where(
            jobs.c.organisation_id == scope.organisation_id,
            jobs.c.kind == IMPORT_COSTS,
            jobs.c.subject == _imports.import_id,
        )
        .order_by(jobs.c.create_time.desc())
        .limit(1)
        .scalar_subquery()
    )
    question = (
        sa.select(cost_imports, doing.label("progress"))
        .where(_imports.organisation_id == scope.organisation_id, *conditions)
        .order_by(_imports.create_time.desc(), _imports.import_id)
        .limit(limit)
        .offset(offset)
    )
    return [_record(row) for row in await db.execute(question)]


def _record(row: Row) -> ImportRecord:
    report = exact_json.read_own(row.report)
    problem = exact_json.read_own(row.problem) if row.problem else None
    return ImportRecord(
        import_id=row.import_id,
        vendor=row.vendor,
        month=row.month,
        sources=[] if row.uploaded and not row.sources else list(row.sources),
        state=row.state,
        progress=row.progress or {},
        lines=row.lines,
        provisional=row.provisional,
        assembly=row.assembly,
        totals=[ImportTotal(**total) for total in report.get("totals", [])],
        unknown_types=report.get("unknown_types", {}),
        accounts_in_no_group=report.get("accounts_in_no_group", []),
        currencies=report.get("currencies", {}),
        noticed=report.get("noticed", {}),
        differences=report.get("differences", []),
        drift=report.get("drift", []),
        proposals=[ProposedEntry(**one) for one in report.get("proposals", [])],
        problem=None if problem is None else ImportProblem(**problem),
        parked_reason=row.parked_reason,
        release_reason=row.release_reason,
        create_time=_written(row.create_time),
        update_time=_written(row.update_time),
    )


def _written(moment: Any) -> str:
    return str(moment.isoformat()).replace("+00:00", "Z")


# ── which deliveries are known ───────────────────────────────────────────────────────────────────


async def known_deliveries(
    db: AsyncConnection, scope: TenantScope, vendor: str
) -> Mapping[str, str | None]:
    """By identity: the import that counts for a month now, or None where another replaced it."""
    counts = sa.exists().where(
        cost_months.c.organisation_id == scope.organisation_id,
        cost_months.c.import_id == _imports.import_id,
    )
    question = (
        sa.select(_imports.identity, _imports.import_id, counts.label("counts"))
        .where(
            _imports.organisation_id == scope.organisation_id,
            _imports.vendor == vendor,
            _imports.identity.is_not(None),
            _imports.state == ImportState.done,
            _imports.lines > 0,
        )
        .order_by(_imports.create_time)
    )
    known: dict[str, str | None] = {}
    for row in await db.execute(question):
        known[row.identity] = row.import_id if row.counts else known.get(row.identity)
    return known


async def counting_imports(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, payers: Collection[str]
) -> Sequence[Row]:
    """The imports that count now for any of these payers."""
    question = (
        sa.select(cost_imports)
        .join(
            cost_months,
            (cost_months.c.organisation_id == _imports.organisation_id)
            & (cost_months.c.import_id == _imports.import_id),
        )
        .where(
            cost_months.c.organisation_id == scope.organisation_id,
            cost_months.c.vendor == vendor,
            cost_months.c.month == month,
            visible_rows(cost_months.c.payer_id, payers),
        )
        .distinct()
    )
    return (await db.execute(question)).all()


async def parked_imports(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str
) -> Sequence[Row]:
    question = sa.select(cost_imports).where(
        _imports.organisation_id == scope.organisation_id,
        _imports.vendor == vendor,
        _imports.month == month,
        _imports.state == ImportState.parked,
    )
    return (await db.execute(question)).all()


async def payers_of_accounts(
    db: AsyncConnection, scope: TenantScope, vendor: str, customers: Collection[str]
) -> dict[str, str]:
    """Of those of them that are in a billing group: the payer the account says it has."""
    question = sa.select(cloud_accounts.c.customer_id, cloud_accounts.c.account_id).where(
        cloud_accounts.c.organisation_id == scope.organisation_id,
        cloud_accounts.c.vendor == vendor,
        visible_rows(cloud_accounts.c.customer_id, customers),
    )
    return {row.customer_id: row.account_id for row in await db.execute(question)}
