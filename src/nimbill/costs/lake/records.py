"""Tables of the lake's files and of the cost sums, and which import is current for each payer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.bulk_copy import copy_sums
from nimbill.database.tenant_scope import TenantScope, is_any_of, metadata, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod

if TYPE_CHECKING:
    import pyarrow as pa

# See docs/choices.md, cost-sums.

USAGE, ENTRY = "usage", "entry"  # LineKind.usage and LineKind.entry, without loading pyarrow

lake_files = sa.Table(
    "lake_files",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("import_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("lines", sa.BigInteger, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),
)

# the current import of each payer and month; sums and lines of all other imports are ignored
cost_months = sa.Table(
    "cost_months",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("payer_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("import_id", sa.Text, nullable=False),
    sa.Column("provisional", sa.Boolean, nullable=False),
    sa.Column("lines", sa.BigInteger, nullable=False),
    # the keys of the payer's tagged sums; without keys there are no such sums
    sa.Column("tag_keys", ARRAY(sa.Text), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


def _sums_table(name: str, *columns: sa.Column[Any]) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("organisation_id", sa.Text, nullable=False),
        sa.Column("vendor", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("month", sa.Text, nullable=False),
        sa.Column("customer_id", sa.Text, nullable=False),
        sa.Column("line_type", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("service", sa.Text, nullable=False),
        sa.Column("marketplace", sa.Boolean, nullable=False),
        *columns,
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("cost", sa.Numeric, nullable=False),
        sa.Column("lines", sa.BigInteger, nullable=False),
    )


cost_sums = _sums_table("cost_sums", sa.Column("day", sa.Date, nullable=False))
cost_tag_sums = _sums_table(
    "cost_tag_sums",
    sa.Column("tag_key", sa.Text, nullable=False),
    sa.Column("tag_value", sa.Text, nullable=False),
)
# `tags` has those of the payer's tag_keys that the lines have
cost_tagged_sums = _sums_table(
    "cost_tagged_sums",
    sa.Column("day", sa.Date, nullable=False),
    sa.Column("tags", JSONB, nullable=False),
)


class CurrentLakeFile(NamedTuple):
    """A file, and the payers whose lines in it are current."""

    vendor: str
    path: str
    payers: frozenset[str]


# ── files ────────────────────────────────────────────────────────────────────────────────────────


async def add_files(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    import_id: str,
    files: Sequence[Mapping[str, Any]],
) -> None:
    common = {
        "organisation_id": scope.organisation_id,
        "import_id": import_id,
        "vendor": period.vendor,
        "month": period.month,
    }
    if files:
        await db.execute(sa.insert(lake_files), [{**common, **file} for file in files])


async def list_files(db: AsyncConnection, scope: TenantScope, import_id: str) -> list[str]:
    """Return the names in the lake, sorted."""
    stmt = (
        sa.select(lake_files.c.path)
        .where(of_tenant(lake_files, scope), lake_files.c.import_id == import_id)
        .order_by(lake_files.c.path)
    )
    return list((await db.execute(stmt)).scalars())


async def list_current_files(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str | None
) -> list[CurrentLakeFile]:
    """Return the files with current lines of the month, ordered by vendor and path."""
    stmt = (
        sa.select(
            lake_files.c.vendor,
            lake_files.c.path,
            sa.func.array_agg(cost_months.c.payer_id, type_=ARRAY(sa.Text)),
        )
        .join(
            cost_months,
            (cost_months.c.organisation_id == lake_files.c.organisation_id)
            & (cost_months.c.import_id == lake_files.c.import_id)
            & (cost_months.c.vendor == lake_files.c.vendor)
            & (cost_months.c.month == lake_files.c.month),
        )
        .where(of_tenant(lake_files, scope), lake_files.c.month == month)
        .group_by(lake_files.c.vendor, lake_files.c.path)
        .order_by(lake_files.c.vendor, lake_files.c.path)
    )
    if vendor is not None:
        stmt = stmt.where(lake_files.c.vendor == vendor)
    rows = (await db.execute(stmt)).all()
    return [
        CurrentLakeFile(file_vendor, path, frozenset(payers)) for file_vendor, path, payers in rows
    ]


async def delete_unused_files(
    db: AsyncConnection, scope: TenantScope, import_ids: Collection[str]
) -> list[str]:
    """Delete the records of imports that are current for no payer; return their file names."""
    is_current = sa.exists().where(
        of_tenant(cost_months, scope), cost_months.c.import_id == lake_files.c.import_id
    )
    deleted = await db.execute(
        sa.delete(lake_files)
        .where(
            of_tenant(lake_files, scope),
            is_any_of(lake_files.c.import_id, import_ids),
            sa.not_(is_current),
        )
        .returning(lake_files.c.path)
    )
    return sorted(deleted.scalars())


# ── months ───────────────────────────────────────────────────────────────────────────────────────


async def load_previous_usage(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Mapping[tuple[str, str], list[Decimal]]:
    """Return usage totals of the year before, the latest first, by payer and currency."""
    sums = cost_sums.c
    stmt = (
        sa.select(sums.payer_id, sums.currency, sa.func.sum(sums.cost).label("cost"))
        .where(
            of_tenant(cost_sums, scope),
            sums.vendor == period.vendor,
            sums.month < period.month,
            sums.month >= _subtract_year(period.month),
            sums.kind == USAGE,
        )
        .group_by(sums.payer_id, sums.currency, sums.month)
        .order_by(sums.month.desc())
    )
    usage: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    for row in await db.execute(stmt):
        usage[row.payer_id, row.currency].append(row.cost)
    return usage


def _subtract_year(month: str) -> str:
    return f"{int(month[:4]) - 1:04}{month[4:]}"


async def replace_month(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    import_id: str,
    payers: Mapping[str, int],
    provisional: bool,
    sums: Iterable[pa.RecordBatch],
    tag_sums: Iterable[pa.RecordBatch],
    tagged_sums: Iterable[pa.RecordBatch] | None = None,
    tag_keys: Sequence[str] = (),
) -> None:
    """Replace the sums of these payers and make the import current for them.

    `payers` maps each payer to its number of lines. `tag_keys` are those of `tagged_sums`.
    """
    if not payers:
        return
    common = {
        "organisation_id": scope.organisation_id,
        "vendor": period.vendor,
        "month": period.month,
    }
    replacements = ((cost_sums, sums), (cost_tag_sums, tag_sums), (cost_tagged_sums, tagged_sums))
    for table, batches in replacements:
        await delete_sums(db, scope, period, table, payers)
        if batches is not None:
            await copy_sums(db, table, common, batches)
    stmt = insert(cost_months)
    stmt = stmt.on_conflict_do_update(
        index_elements=["organisation_id", "vendor", "payer_id", "month"],
        set_={
            "import_id": stmt.excluded.import_id,
            "provisional": stmt.excluded.provisional,
            "lines": stmt.excluded.lines,
            "tag_keys": stmt.excluded.tag_keys,
            "update_time": sa.func.now(),
        },
    )
    await db.execute(
        stmt,
        [
            {
                **common,
                "payer_id": payer_id,
                "import_id": import_id,
                "provisional": provisional,
                "lines": lines,
                "tag_keys": list(tag_keys),
            }
            for payer_id, lines in sorted(payers.items())
        ],
    )


async def delete_sums(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    table: sa.Table,
    payers: Collection[str],
) -> None:
    await db.execute(
        sa.delete(table).where(
            of_tenant(table, scope), of_period(table, period), is_any_of(table.c.payer_id, payers)
        )
    )


async def has_costs(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str | None
) -> bool:
    """Return whether there are costs of the month, or of any month if it is None."""
    exists = sa.exists().where(of_tenant(cost_months, scope), cost_months.c.vendor == vendor)
    if month is not None:
        exists = exists.where(cost_months.c.month == month)
    return bool((await db.execute(sa.select(exists))).scalar_one())


async def find_newest_month(db: AsyncConnection, scope: TenantScope) -> str | None:
    stmt = sa.select(sa.func.max(cost_months.c.month)).where(of_tenant(cost_months, scope))
    month: str | None = (await db.execute(stmt)).scalar_one()
    return month


async def load_sums_by_account(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payers: Collection[str]
) -> dict[tuple[str, str, str], Decimal]:
    """Return the current costs of these payers by account, line type and currency."""
    columns = (cost_sums.c.customer_id, cost_sums.c.line_type, cost_sums.c.currency)
    stmt = (
        sa.select(*columns, sa.func.sum(cost_sums.c.cost).label("cost"))
        .where(
            of_tenant(cost_sums, scope),
            of_period(cost_sums, period),
            is_any_of(cost_sums.c.payer_id, payers),
        )
        .group_by(*columns)
    )
    return {
        (row.customer_id, row.line_type, row.currency): row.cost for row in await db.execute(stmt)
    }


async def load_other_payers(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    customer_ids: Collection[str],
    payers: Collection[str],
) -> dict[str, list[str]]:
    """Return, for those of the accounts that have them, payers of their costs beside `payers`."""
    columns = (cost_sums.c.customer_id, cost_sums.c.payer_id)
    stmt = (
        sa.select(*columns)
        .where(
            of_tenant(cost_sums, scope),
            of_period(cost_sums, period),
            cost_sums.c.cost != 0,
            is_any_of(cost_sums.c.customer_id, customer_ids),
            sa.not_(is_any_of(cost_sums.c.payer_id, payers)),
        )
        .distinct()
        .order_by(*columns)
    )
    others: dict[str, list[str]] = {}
    for row in await db.execute(stmt):
        others.setdefault(row.customer_id, []).append(row.payer_id)
    return others


async def list_charged_accounts(
    db: AsyncConnection, scope: TenantScope, customer_ids: Collection[str]
) -> set[str]:
    """Return those of the accounts that have costs in any month, of any vendor.

    The months come first, because the index on the sums begins with them.
    """
    stmt = (
        sa.select(cost_sums.c.customer_id)
        .join_from(
            cost_months,
            cost_sums,
            (cost_sums.c.organisation_id == cost_months.c.organisation_id)
            & (cost_sums.c.vendor == cost_months.c.vendor)
            & (cost_sums.c.month == cost_months.c.month),
        )
        .where(of_tenant(cost_months, scope), is_any_of(cost_sums.c.customer_id, customer_ids))
        .distinct()
    )
    return set((await db.execute(stmt)).scalars())


async def load_stored_totals(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    table: sa.Table,
    payers: Collection[str],
) -> dict[tuple[str, ...], tuple[Decimal, int]]:
    """Return cost and lines of a sums table by payer, account, currency and kind."""
    columns = (table.c.payer_id, table.c.customer_id, table.c.currency, table.c.kind)
    lines = sa.cast(sa.func.sum(table.c.lines), sa.BigInteger)
    stmt = (
        sa.select(*columns, sa.func.sum(table.c.cost), lines)
        .where(
            of_tenant(table, scope), of_period(table, period), is_any_of(table.c.payer_id, payers)
        )
        .group_by(*columns)
    )
    return {tuple(row[:4]): (row[4], row[5]) for row in await db.execute(stmt)}
