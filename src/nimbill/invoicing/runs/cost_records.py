"""Queries on imported costs: sums per account and per tag value, and the imports of a period."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import USAGE, cost_months, cost_sums, cost_tag_sums
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod

# See docs/choices.md, invoice-inputs.


class UsageKey(NamedTuple):
    """The lines that are summed up to one amount before they are split by tag."""

    customer_id: str
    service: str
    marketplace: bool
    currency: str


class TagSum(NamedTuple):
    value: str
    amount: Decimal
    is_complete: bool  # every line of the key has this value or one listed before it


async def load_cost_sums(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, customer_ids: Collection[str]
) -> Iterable[Row]:
    """Columns: customer_id, payer_id, kind, service, marketplace, currency, cost."""
    sums = cost_sums.c
    key = (
        sums.customer_id,
        sums.payer_id,
        sums.kind,
        sums.service,
        sums.marketplace,
        sums.currency,
    )
    stmt = (
        sa.select(*key, _sum_cost(sums.cost))
        .where(
            of_tenant(cost_sums, scope),
            of_period(cost_sums, period),
            is_any_of(sums.customer_id, customer_ids),
        )
        .group_by(*key)
    )
    return await db.execute(stmt)


async def load_tag_sums(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    customer_ids: Collection[str],
    tag_key: str,
) -> Mapping[UsageKey, Sequence[TagSum]]:
    """Load usage per value of the tag, in the order of the values."""
    untagged_lines = await _count_usage_lines(db, scope, period, customer_ids)
    tags = cost_tag_sums.c
    key = tuple(tags[name] for name in UsageKey._fields)
    stmt = (
        sa.select(
            *key, tags.tag_value, _sum_cost(tags.cost), sa.func.sum(tags.lines).label("lines")
        )
        .where(
            of_tenant(cost_tag_sums, scope),
            of_period(cost_tag_sums, period),
            tags.kind == USAGE,
            tags.tag_key == tag_key,
            is_any_of(tags.customer_id, customer_ids),
        )
        .group_by(*key, tags.tag_value)
        .order_by(tags.tag_value)
    )
    tag_sums: dict[UsageKey, list[TagSum]] = defaultdict(list)
    for row in await db.execute(stmt):
        usage_key = UsageKey(row.customer_id, row.service, row.marketplace, row.currency)
        untagged_lines[usage_key] -= row.lines
        is_complete = untagged_lines[usage_key] == 0
        tag_sums[usage_key].append(TagSum(row.tag_value, row.cost, is_complete))
    return tag_sums


async def _count_usage_lines(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, customer_ids: Collection[str]
) -> dict[UsageKey, int]:
    sums = cost_sums.c
    key = tuple(sums[name] for name in UsageKey._fields)
    stmt = (
        sa.select(*key, sa.func.sum(sums.lines).label("lines"))
        .where(
            of_tenant(cost_sums, scope),
            of_period(cost_sums, period),
            sums.kind == USAGE,
            is_any_of(sums.customer_id, customer_ids),
        )
        .group_by(*key)
    )
    return {UsageKey(*row[:4]): row.lines for row in await db.execute(stmt)}


async def list_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Sequence[Row]:
    """List the import that each payer's costs come from: payer_id, import_id, provisional."""
    stmt = (
        sa.select(cost_months.c.payer_id, cost_months.c.import_id, cost_months.c.provisional)
        .where(of_tenant(cost_months, scope), of_period(cost_months, period))
        .order_by(cost_months.c.payer_id)
    )
    return (await db.execute(stmt)).all()


def _sum_cost(column: sa.ColumnElement[Decimal]) -> sa.Label[Decimal]:
    """Remove trailing zeros: costs are stored with 22 decimals, more than vendors use."""
    return sa.func.trim_scale(sa.func.sum(column), type_=sa.Numeric).label("cost")
