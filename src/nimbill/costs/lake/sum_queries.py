"""Queries over the stored sums: by account, service, tag, line type and day."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.bodies import CostSum, CostTotal, MonthCosts
from nimbill.costs.lake.grouping import Grouping
from nimbill.costs.lake.records import cost_months, cost_sums, cost_tag_sums, cost_tagged_sums
from nimbill.costs.lake.tagged_sum_records import has_tagged_sums
from nimbill.costs.months.records import parked_months
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_tenant
from nimbill.foundation.vendor_names import list_readable_vendors
from nimbill.foundation.vendors import Vendor

# dimension of a grouping to its columns
GROUPING_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "account": ("customer_id", "company_id"),
    "service": ("service", "marketplace"),
    "tag": ("tag_value",),
    "tag_2": ("tag_value_2",),
    "line_type": ("line_type", "kind"),
    "day": ("day",),
}


async def are_sums_stored(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: Vendor | None,
    grouping: Grouping,
) -> bool:
    """Return whether stored sums answer the grouping; otherwise it needs the cost lines."""
    if not grouping.needs_tagged_sums:
        return True
    vendors = await _list_vendors(db, scope, vendor)
    return await has_tagged_sums(db, scope, month, vendors, grouping.tag_keys)


async def _list_vendors(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor | None
) -> list[Vendor]:
    return [vendor] if vendor else list_readable_vendors(await load_vendors(db, scope))


async def load_month_costs(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: Vendor | None,
    grouping: Grouping | None,
    *,
    limit: int | None,
    offset: int,
) -> MonthCosts:
    """Users restricted to certain billing groups see the lines of the accounts of these groups.

    Without a grouping there are no rows.
    """
    filter_ = _CostFilter(scope, month, await _list_vendors(db, scope, vendor))
    rows: Iterable[Row] = []
    if grouping is not None:
        rows_stmt = _build_rows_stmt(filter_, grouping)
        rows = await db.execute(rows_stmt.limit(limit).offset(offset))
    totals = await db.execute(_build_totals_stmt(filter_))
    return MonthCosts(
        month=month,
        vendor=vendor,
        provisional=bool((await db.execute(_build_provisional_stmt(filter_))).scalar_one()),
        parked=bool((await db.execute(_build_parked_stmt(filter_))).scalar_one()),
        rows=[CostSum(**_to_fields(row)) for row in rows],
        totals=[CostTotal(**_to_fields(row)) for row in totals],
    )


def _to_fields(row: Row) -> dict[str, Any]:
    fields = row._asdict()
    if "day" in fields:
        fields["day"] = fields["day"].isoformat()
    return fields


@dataclass(frozen=True, slots=True)
class _CostFilter:
    scope: TenantScope
    month: str
    vendors: Sequence[Vendor]  # always listed: the indexes start with this column

    def of_month(self, table: sa.Table) -> list[sa.ColumnElement[bool]]:
        return [
            of_tenant(table, self.scope),
            table.c.month == self.month,
            is_any_of(table.c.vendor, self.vendors),
        ]

    def visible_accounts(self) -> list[sa.ColumnElement[bool]]:
        """Only unrestricted users see lines of accounts that are in no billing group."""
        if self.scope.billing_groups is None:
            return []
        return [is_any_of(cloud_accounts.c.company_id, self.scope.billing_groups)]


def _join_accounts(table: sa.Table) -> sa.FromClause:
    return table.outerjoin(
        cloud_accounts,
        (cloud_accounts.c.organisation_id == table.c.organisation_id)
        & (cloud_accounts.c.customer_id == table.c.customer_id)
        & (cloud_accounts.c.vendor == table.c.vendor),
    )


def _build_sums_stmt(
    filter_: _CostFilter, table: sa.Table, names: list[str], *, sign: int = 1, **constants: Any
) -> sa.Select[*tuple[Any, ...]]:
    """Group by the named columns; `constants` replace columns by the same value in every row."""
    columns = {**table.c, "company_id": cloud_accounts.c.company_id, **constants}
    selected = [columns[name].label(name) for name in names]
    group_columns = [columns[name] for name in names if name not in constants]
    return (
        sa.select(
            table.c.vendor,
            *selected,
            table.c.currency,
            (sa.func.sum(table.c.cost) * sign).label("cost"),
            (sa.func.sum(table.c.lines) * sign).label("lines"),
        )
        .select_from(_join_accounts(table))
        .where(*filter_.of_month(table), *filter_.visible_accounts())
        .group_by(table.c.vendor, *group_columns, table.c.currency)
    )


def _build_rows_stmt(filter_: _CostFilter, grouping: Grouping) -> sa.Select[*tuple[Any, ...]]:
    names = [column for each in grouping.dimensions for column in GROUPING_COLUMNS[each]]
    if not grouping.tag_keys:
        return _combine(_build_sums_stmt(filter_, cost_sums, names), names)
    if grouping.needs_tagged_sums:
        return _combine(_build_tagged_stmt(filter_, names, grouping.tag_keys), names)
    return _build_one_tag_stmt(filter_, names, *grouping.tag_keys)


def _build_tagged_stmt(
    filter_: _CostFilter, names: list[str], tag_keys: Sequence[str]
) -> sa.Select[*tuple[Any, ...]]:
    """Every line is in one of the tagged sums, with the values of all its tags."""
    tags = cost_tagged_sums.c.tags
    values = {
        name: tags[key].astext
        for name, key in zip(("tag_value", "tag_value_2"), tag_keys, strict=False)
    }
    stmt = _build_sums_stmt(filter_, cost_tagged_sums, names, **values)
    # By name: the same key would be another parameter, and so another expression.
    return stmt.group_by(*(sa.literal_column(name) for name in names if name in values))


def _build_one_tag_stmt(
    filter_: _CostFilter, names: list[str], tag_key: str
) -> sa.Select[*tuple[Any, ...]]:
    # the row without a tag value is the sum of all lines less the sum of the tagged lines
    has_key = cost_tag_sums.c.tag_key == tag_key
    null = sa.null().cast(sa.Text)
    tagged = _build_sums_stmt(filter_, cost_tag_sums, names).where(has_key)
    subtracted = _build_sums_stmt(filter_, cost_tag_sums, names, sign=-1, tag_value=null).where(
        has_key
    )
    all_lines = _build_sums_stmt(filter_, cost_sums, names, tag_value=null)
    return _combine(sa.union_all(tagged, all_lines, subtracted), names)


def _combine(parts: Any, names: list[str]) -> sa.Select[*tuple[Any, ...]]:
    """Add up rows with the same key, order them, and drop trailing zeros of the costs."""
    part = parts.subquery()
    key = [part.c.vendor, *(part.c[name] for name in names), part.c.currency]
    cost, lines = sa.func.sum(part.c.cost), sa.func.sum(part.c.lines)
    order = [part.c[name].asc().nulls_last() for name in names]
    return (
        sa.select(
            *key,
            sa.func.trim_scale(cost, type_=sa.Numeric).label("cost"),
            lines.cast(sa.BigInteger).label("lines"),
        )
        .group_by(*key)
        .having(lines != 0)
        .order_by(part.c.vendor, *order, part.c.currency)
    )


def _build_totals_stmt(filter_: _CostFilter) -> sa.Select[*tuple[Any, ...]]:
    return _combine(_build_sums_stmt(filter_, cost_sums, []), [])


def _build_provisional_stmt(filter_: _CostFilter) -> sa.Select[*tuple[Any, ...]]:
    """Whether any payer with visible lines has not been invoiced by the vendor yet."""
    exists = sa.exists().where(*filter_.of_month(cost_months), cost_months.c.provisional)
    if filter_.scope.billing_groups is not None:
        visible_sums = (
            sa.select(cost_sums.c.payer_id)
            .select_from(_join_accounts(cost_sums))
            .where(
                *filter_.of_month(cost_sums),
                *filter_.visible_accounts(),
                cost_sums.c.vendor == cost_months.c.vendor,
                cost_sums.c.payer_id == cost_months.c.payer_id,
            )
        )
        exists = exists.where(sa.exists(visible_sums.correlate(cost_months)))
    return sa.select(exists)


def _build_parked_stmt(filter_: _CostFilter) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(sa.exists().where(*filter_.of_month(parked_months)))
