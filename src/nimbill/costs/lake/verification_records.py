"""What the database says about the lake of an organisation: counted imports, files and sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.commitment_records import USAGE_TABLES
from nimbill.costs.lake.records import (
    cost_months,
    cost_sums,
    cost_tag_sums,
    cost_tagged_sums,
    lake_files,
)
from nimbill.database.tenant_scope import TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod

# See docs/choices.md, cost-lake.

ACCOUNT_COLUMNS = (
    "payer_id",
    "customer_id",
    "line_type",
    "kind",
    "service",
    "marketplace",
    "currency",
)
DAY_COLUMNS = ("payer_id", "day", "currency")
USAGE_COLUMNS = ("payer_id", "customer_id", "kind", "currency")
TAG_COLUMNS = ("payer_id", "tag_key", "currency")

SumKey = tuple[Any, ...]


class StoredSum(NamedTuple):
    cost: Decimal
    lines: int


class CountedFile(NamedTuple):
    path: str
    bytes: int
    sha256: str


class CountedImport(NamedTuple):
    """An import, the payers for which it counts with their lines, and its files and sums."""

    import_id: str
    payers: Mapping[str, int]
    files: Sequence[CountedFile]
    by_account: Mapping[SumKey, StoredSum]
    by_day: Mapping[SumKey, StoredSum]
    by_tag: Mapping[SumKey, StoredSum]
    tagged_by_day: Mapping[SumKey, StoredSum]
    tagged_payers: Collection[str]  # that have tagged sums
    usage: Mapping[str, Mapping[SumKey, StoredSum]]  # of commitments and on demand, by table


async def list_periods(db: AsyncConnection, scope: TenantScope) -> list[BillingPeriod]:
    """Return all months with costs: with a counted import, or with sums."""
    tables = [
        sa.select(table.c.month, table.c.vendor).where(of_tenant(table, scope))
        for table in (cost_months, cost_sums, cost_tag_sums, cost_tagged_sums)
    ]
    rows = await db.execute(sa.union(*tables).order_by("month", "vendor"))
    return [BillingPeriod(*row) for row in rows]


async def load_counted_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[CountedImport]:
    months = cost_months.c
    rows = await db.execute(
        sa.select(months.import_id, months.payer_id, months.lines, months.tag_keys).where(
            of_tenant(cost_months, scope), of_period(cost_months, period)
        )
    )
    payers: dict[str, dict[str, int]] = defaultdict(dict)
    tagged_payers: set[str] = set()
    for import_id, payer_id, lines, tag_keys in rows:
        payers[import_id][payer_id] = lines
        if tag_keys:
            tagged_payers.add(payer_id)
    return [
        CountedImport(
            import_id,
            payers[import_id],
            await _list_files(db, scope, import_id),
            await _load_sums(db, scope, period, cost_sums, ACCOUNT_COLUMNS, payers[import_id]),
            await _load_sums(db, scope, period, cost_sums, DAY_COLUMNS, payers[import_id]),
            await _load_sums(db, scope, period, cost_tag_sums, TAG_COLUMNS, payers[import_id]),
            await _load_sums(db, scope, period, cost_tagged_sums, DAY_COLUMNS, payers[import_id]),
            tagged_payers & payers[import_id].keys(),
            {
                table.name: await _load_sums(
                    db, scope, period, table, USAGE_COLUMNS, payers[import_id]
                )
                for table in USAGE_TABLES
            },
        )
        for import_id in sorted(payers)
    ]


async def list_payers_without_import(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[str]:
    """Return payers that have sums although no import counts for them."""
    tables = [
        sa.select(table.c.payer_id).where(of_tenant(table, scope), of_period(table, period))
        for table in (cost_sums, cost_tag_sums, cost_tagged_sums)
    ]
    counted = sa.select(cost_months.c.payer_id).where(
        of_tenant(cost_months, scope), of_period(cost_months, period)
    )
    stmt = sa.except_(sa.union(*tables).subquery().select(), counted)
    return sorted((await db.execute(stmt)).scalars())


async def _list_files(db: AsyncConnection, scope: TenantScope, import_id: str) -> list[CountedFile]:
    files = lake_files.c
    stmt = (
        sa.select(files.path, files.bytes, files.sha256)
        .where(of_tenant(lake_files, scope), files.import_id == import_id)
        .order_by(files.path)
    )
    return [CountedFile(*row) for row in await db.execute(stmt)]


async def _load_sums(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    table: sa.Table,
    names: Sequence[str],
    payers: Collection[str],
) -> dict[SumKey, StoredSum]:
    columns = [table.c[name] for name in names]
    lines = sa.func.sum(table.c.lines).cast(sa.BigInteger)
    stmt = (
        sa.select(*columns, sa.func.sum(table.c.cost), lines)
        .where(
            of_tenant(table, scope), of_period(table, period), is_any_of(table.c.payer_id, payers)
        )
        .group_by(*columns)
    )
    return {tuple(row[:-2]): StoredSum(*row[-2:]) for row in await db.execute(stmt)}
