"""Tables and queries of imports."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import cost_months
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.list_query import COMPLETE, ListColumns, ListQuery, fetch_page
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation import clock, exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.imports.bodies import (
    ImportNotice,
    ImportProblem,
    ImportRecord,
    ImportState,
    ImportTotal,
    ProposedEntry,
)
from nimbill.imports.import_notice_rules import calculate_percent, list_notices
from nimbill.jobs.records import jobs

__all__ = ["ImportProblem", "ImportRecord", "ImportState"]  # also used by the command line

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
    sa.Column("content_hash", sa.Text),
    sa.Column("assembly", sa.Text),
    sa.Column("assembled_at", sa.DateTime(timezone=True)),
    sa.Column("lines", sa.BigInteger, nullable=False),
    sa.Column("provisional", sa.Boolean),
    sa.Column("report", sa.Text, nullable=False),
    sa.Column("problem", sa.Text),
    sa.Column("parked_reason", sa.Text),
    sa.Column("release_reason", sa.Text),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
_imports = cost_imports.c
IMPORT_COSTS = "import_costs"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewImport:
    import_id: str
    vendor: str
    month: str | None
    sources: Sequence[str]  # paths and addresses to read
    source_names: Sequence[str]  # how the caller named them
    roots: Sequence[str] | None  # None: the operator named the sources, all paths are allowed
    created_by: str
    uploaded: bool = False


def _is_import(scope: TenantScope, import_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(cost_imports, scope), _imports.import_id == import_id]


async def add_import(db: AsyncConnection, scope: TenantScope, new_import: NewImport) -> None:
    await db.execute(
        sa.insert(cost_imports).values(
            organisation_id=scope.organisation_id,
            import_id=new_import.import_id,
            vendor=new_import.vendor,
            month=new_import.month,
            sources=list(new_import.source_names),
            uploaded=new_import.uploaded,
            state=ImportState.waiting,
            created_by=new_import.created_by,
        )
    )


async def change_import(
    db: AsyncConnection, scope: TenantScope, import_id: str, **values: Any
) -> None:
    """Report and problem are stored as exact JSON text."""
    for name in ("report", "problem"):
        if values.get(name) is not None:
            values[name] = exact_json.encode(values[name]).decode()
    await db.execute(
        sa.update(cost_imports)
        .where(*_is_import(scope, import_id))
        .values(**values, update_time=clock.now())
    )


async def lock_import(db: AsyncConnection, scope: TenantScope, import_id: str) -> Row | None:
    stmt = sa.select(cost_imports).where(*_is_import(scope, import_id)).with_for_update()
    return (await db.execute(stmt)).one_or_none()


async def count_unfinished_imports(db: AsyncConnection, scope: TenantScope) -> int:
    unfinished = [ImportState.waiting, ImportState.running]
    stmt = (
        sa.select(sa.func.count())
        .select_from(cost_imports)
        .where(of_tenant(cost_imports, scope), is_any_of(_imports.state, unfinished))
    )
    return int((await db.execute(stmt)).scalar_one())


async def find_import(
    db: AsyncConnection, scope: TenantScope, import_id: str
) -> ImportRecord | None:
    imports, _ = await _load_imports(db, scope, *_is_import(scope, import_id))
    return imports[0] if imports else None


async def list_imports(
    db: AsyncConnection, scope: TenantScope, query: ListQuery, **values: str | None
) -> tuple[list[ImportRecord], int]:
    """The newest first; empty for users restricted to certain billing groups.

    `values` are those that columns must have; None means any.
    """
    conditions = [
        cost_imports.c[name] == value for name, value in values.items() if value is not None
    ]
    return await _load_imports(db, scope, *conditions, query=query)


_COLUMNS = ListColumns(
    table=cost_imports,
    order=[_imports.create_time.desc(), _imports.import_id],
    searched=[
        _imports.import_id,
        _imports.vendor,
        _imports.month,
        _imports.state,
        sa.func.array_to_string(_imports.sources, " "),
    ],
    sortable={
        name: _imports[name] for name in ("create_time", "month", "vendor", "state", "lines")
    },
)


async def _load_imports(
    db: AsyncConnection,
    scope: TenantScope,
    *conditions: sa.ColumnElement[bool],
    query: ListQuery = COMPLETE,
) -> tuple[list[ImportRecord], int]:
    if scope.billing_groups is not None:
        return [], 0
    progress = (
        sa.select(jobs.c.progress)
        .where(
            of_tenant(jobs, scope),
            jobs.c.kind == IMPORT_COSTS,
            jobs.c.subject == _imports.import_id,
        )
        .order_by(jobs.c.create_time.desc())
        .limit(1)
        .scalar_subquery()
    )
    stmt = sa.select(cost_imports, progress.label("progress")).where(*conditions)
    rows, total = await fetch_page(db, scope, stmt, _COLUMNS, query)
    return [_build_record(row) for row in rows], total


def _build_record(row: Row) -> ImportRecord:
    report = exact_json.decode_stored(row.report)
    problem = exact_json.decode_stored(row.problem) if row.problem else None
    return ImportRecord(
        import_id=row.import_id,
        vendor=row.vendor,
        month=row.month,
        sources=list(row.sources),
        state=row.state,
        progress=row.progress or {},
        percent=calculate_percent(row.state, row.progress or {}),
        lines=row.lines,
        provisional=row.provisional,
        assembly=row.assembly,
        totals=[ImportTotal(**total) for total in report.get("totals", [])],
        unknown_types=report.get("unknown_types", {}),
        accounts_in_no_group=report.get("accounts_in_no_group", []),
        currencies=report.get("currencies", {}),
        identical_import=report.get("identical_import"),
        noticed=report.get("noticed", {}),
        warnings=[ImportNotice(**asdict(notice)) for notice in list_notices(report)],
        differences=report.get("differences", []),
        drift=report.get("drift", []),
        proposals=[ProposedEntry(**proposal) for proposal in report.get("proposals", [])],
        problem=None if problem is None else ImportProblem(**problem),
        parked_reason=row.parked_reason,
        release_reason=row.release_reason,
        create_time=_format_time(row.create_time),
        update_time=_format_time(row.update_time),
    )


def _format_time(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


# ── current and parked imports ───────────────────────────────────────────────────────────────────


async def load_known_deliveries(
    db: AsyncConnection, scope: TenantScope, vendor: str
) -> Mapping[str, str | None]:
    """Map content hashes to the current import, or to None if another import replaced it."""
    is_current = sa.exists().where(
        of_tenant(cost_months, scope), cost_months.c.import_id == _imports.import_id
    )
    stmt = (
        sa.select(_imports.content_hash, _imports.import_id, is_current.label("is_current"))
        .where(
            of_tenant(cost_imports, scope),
            _imports.vendor == vendor,
            _imports.content_hash.is_not(None),
            _imports.state == ImportState.done,
            _imports.lines > 0,
        )
        .order_by(_imports.create_time)
    )
    known: dict[str, str | None] = {}
    for row in await db.execute(stmt):
        known[row.content_hash] = row.import_id if row.is_current else known.get(row.content_hash)
    return known


async def find_same_delivery(
    db: AsyncConnection, scope: TenantScope, vendor: str, content_hash: str | None
) -> Row | None:
    """Find an import of the same contents that was committed, if possible the current one."""
    is_current = sa.exists().where(
        of_tenant(cost_months, scope), cost_months.c.import_id == _imports.import_id
    )
    stmt = (
        sa.select(_imports.import_id, is_current.label("is_current"))
        .where(
            of_tenant(cost_imports, scope),
            _imports.vendor == vendor,
            _imports.content_hash == content_hash,
            _imports.state == ImportState.done,
            _imports.lines > 0,
        )
        .order_by(sa.desc("is_current"), _imports.create_time.desc())
        .limit(1)
    )
    return (await db.execute(stmt)).one_or_none()


async def load_current_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payers: Collection[str]
) -> Sequence[Row]:
    """Return the imports that provide the current costs of any of these payers."""
    stmt = (
        sa.select(cost_imports)
        .join(
            cost_months,
            (cost_months.c.organisation_id == _imports.organisation_id)
            & (cost_months.c.import_id == _imports.import_id),
        )
        .where(
            of_tenant(cost_months, scope),
            of_period(cost_months, period),
            is_any_of(cost_months.c.payer_id, payers),
        )
        .distinct()
    )
    return (await db.execute(stmt)).all()


async def list_parked_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Sequence[Row]:
    stmt = sa.select(cost_imports).where(
        of_tenant(cost_imports, scope),
        of_period(cost_imports, period),
        _imports.state == ImportState.parked,
    )
    return (await db.execute(stmt)).all()


async def has_drift_import(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payers: Collection[str]
) -> bool:
    """Whether an earlier import brought late costs of one of these payers."""
    stmt = sa.select(_imports.report).where(
        of_tenant(cost_imports, scope),
        of_period(cost_imports, period),
        _imports.state == ImportState.drift,
    )
    reports = map(exact_json.decode_stored, (await db.execute(stmt)).scalars())
    return any(total["payer_id"] in payers for report in reports for total in report["totals"])


async def load_account_payers(
    db: AsyncConnection, scope: TenantScope, vendor: str, customer_ids: Collection[str]
) -> dict[str, str]:
    """Map the registered accounts among these to the payer that is registered with them."""
    stmt = sa.select(cloud_accounts.c.customer_id, cloud_accounts.c.account_id).where(
        of_tenant(cloud_accounts, scope),
        cloud_accounts.c.vendor == vendor,
        is_any_of(cloud_accounts.c.customer_id, customer_ids),
    )
    return {row.customer_id: row.account_id for row in await db.execute(stmt)}


async def list_import_ids(db: AsyncConnection, scope: TenantScope) -> list[str]:
    stmt = sa.select(cost_imports.c.import_id).where(of_tenant(cost_imports, scope))
    return list((await db.execute(stmt)).scalars())
