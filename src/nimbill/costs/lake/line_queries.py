"""Sums that are not stored, computed from the cost lines: two tags, or a tag and days."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.bodies import CostSum
from nimbill.costs.lake.grouping import RULE_ROWS, Grouping
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile, list_current_files
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import TenantScope, is_any_of, of_tenant
from nimbill.foundation.errors import Unavailable, Violation, refuse_if
from nimbill.foundation.money import add_decimals, strip_zeros
from nimbill.foundation.settings import Settings
from nimbill.foundation.vendors import Vendor

log = structlog.get_logger()


ROWS_MAX = 100_000
MEMORY = "256MB"
RETRY_SECONDS = 60

# One query at a time in each worker, so that requests do not compete for memory.
_reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="cost-lines")

Account = tuple[str, str]  # vendor, customer_id

# dimension to its fields, and the field to its SQL
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "account": ("customer_id",),
    "service": ("service", "marketplace"),
    "tag": ("tag_value",),
    "tag_2": ("tag_value_2",),
    "line_type": ("line_type", "kind"),
    "day": ("day",),
}
# A line without the key has no value; a key without a value has the value "".
_TAG_SQL = "CASE WHEN list_contains(map_keys(tags), ${0}) THEN coalesce(tags[${0}], '') END"
_SQL: Mapping[str, str] = {
    "day": "CAST(CAST(usage_start AS DATE) AS VARCHAR)",
    "tag_value": _TAG_SQL.format("key_1"),
    "tag_value_2": _TAG_SQL.format("key_2"),
}
# Whole units and fractions are summed separately: a sum of costs could overflow.
_WHOLE = "CASE WHEN cost < 0 THEN ceil(cost) ELSE floor(cost) END"


@dataclass(frozen=True, slots=True)
class LineQuery:
    """The files to read, and the accounts of the organisation with their billing groups."""

    files: Sequence[CurrentLakeFile]
    grouping: Grouping
    company_ids: Mapping[Account, str]
    is_restricted: bool  # only lines of these accounts count


async def prepare_query(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: Vendor | None,
    grouping: Grouping,
) -> LineQuery:
    stmt = sa.select(
        cloud_accounts.c.vendor, cloud_accounts.c.customer_id, cloud_accounts.c.company_id
    ).where(of_tenant(cloud_accounts, scope))
    if scope.billing_groups is not None:
        stmt = stmt.where(is_any_of(cloud_accounts.c.company_id, scope.billing_groups))
    accounts = {(row.vendor, row.customer_id): row.company_id for row in await db.execute(stmt)}
    files = await list_current_files(db, scope, month, vendor)
    return LineQuery(files, grouping, accounts, scope.billing_groups is not None)


async def sum_lines(
    settings: Settings, query: LineQuery, *, limit: int | None, offset: int
) -> list[CostSum]:
    """Run the query in a thread; refuse one with too many rows."""
    loop = asyncio.get_running_loop()
    lake, scratch = Lake(settings.lake_url), settings.data / "scratch"
    sums = await loop.run_in_executor(_reader, _read_sums, lake, scratch, query)
    if len(sums) > ROWS_MAX:
        refuse_if([Violation("by", RULE_ROWS.format(f"{ROWS_MAX:,}"))])
    names = ["vendor", *_list_fields(query.grouping), "currency"]
    keys = sorted(sums, key=lambda key: [(value is None, value) for value in key])
    end = None if limit is None else offset + limit
    rows = []
    for key in keys[offset:end]:
        cost, lines = sums[key]
        fields = dict(zip(names, key, strict=True))
        if "account" in query.grouping.dimensions:
            account = (fields["vendor"], fields["customer_id"])
            fields["company_id"] = query.company_ids.get(account)
        rows.append(CostSum(**fields, cost=strip_zeros(cost), lines=lines))
    return rows


def _list_fields(grouping: Grouping) -> list[str]:
    return [field for dimension in grouping.dimensions for field in _FIELDS[dimension]]


def _read_sums(lake: Lake, scratch: Path, query: LineQuery) -> dict[tuple[Any, ...], Any]:
    """Cost and number of lines by vendor, the fields of the grouping and currency."""
    # Imported here: workers that serve no such request do not load DuckDB.
    import duckdb

    from nimbill.costs.lake.engines.duckdb import DuckDBEngine

    sums: dict[tuple[Any, ...], tuple[Decimal, int]] = {}
    try:
        with closing(DuckDBEngine(lake, scratch=scratch, memory=MEMORY)) as engine:
            for (vendor, payers), files in group_files(query.files).items():
                parameters = _build_parameters(query, vendor, payers)
                for *key, whole, fraction, lines in engine.fetch(
                    _build_sql(query), files, parameters
                ):
                    cost, count = sums.get((vendor, *key), (Decimal(0), 0))
                    cost = add_decimals(cost, add_decimals(whole, fraction))
                    sums[vendor, *key] = (cost, count + lines)
                if len(sums) > ROWS_MAX:
                    break
    except (duckdb.Error, OSError) as error:
        log.warning("cost_lines_unreadable", error=type(error).__name__)
        raise Unavailable(
            "cost_lines_unavailable",
            "The cost lines cannot be read now. Try again later.",
            retry_after=RETRY_SECONDS,
        ) from None
    return sums


def group_files(
    files: Sequence[CurrentLakeFile],
) -> dict[tuple[str, frozenset[str]], list[str]]:
    """Files whose lines count for the same payers are read together."""
    groups: dict[tuple[str, frozenset[str]], list[str]] = {}
    for file in files:
        groups.setdefault((file.vendor, file.payers), []).append(file.path)
    return groups


def _build_parameters(query: LineQuery, vendor: str, payers: frozenset[str]) -> dict[str, Any]:
    parameters: dict[str, Any] = {"payers": sorted(payers), "rows": ROWS_MAX + 1}
    for number, key in enumerate(query.grouping.tag_keys, 1):
        parameters[f"key_{number}"] = key
    if query.is_restricted:
        parameters["accounts"] = [
            customer_id for of_vendor, customer_id in query.company_ids if of_vendor == vendor
        ]
    return parameters


def _build_sql(query: LineQuery) -> str:
    """Contains names of columns only; values are parameters."""
    columns = [_SQL.get(field, field) for field in _list_fields(query.grouping)]
    visible = "AND list_contains($accounts, customer_id)" if query.is_restricted else ""
    return (
        f"SELECT {', '.join([*columns, 'currency'])}, sum(CAST({_WHOLE} AS DECIMAL(38, 0))), "  # noqa: S608
        f"sum(cost - {_WHOLE}), count(*) FROM cost_lines "
        f"WHERE list_contains($payers, payer_id) {visible} GROUP BY ALL LIMIT $rows"
    )
