"""The stored costs of an invoice line by account and day."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import USAGE, cost_sums, cost_tagged_sums
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod


async def list_daily_costs(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    customer_ids: Collection[str],
    *,
    service: str,
    marketplace: bool,
    tag: tuple[str, str] | None,
) -> Sequence[Row]:
    """List customer_id, day and cost of a service, by day.

    `tag` is a key and a value, "" for costs without the tag. Sums by tag and day exist for the tag
    keys of reports only.
    """
    table = cost_sums if tag is None else cost_tagged_sums
    sums = table.c
    conditions = [
        of_tenant(table, scope),
        of_period(table, period),
        is_any_of(sums.customer_id, customer_ids),
        sums.kind == USAGE,
        sums.service == service,
        sums.marketplace == marketplace,
    ]
    if tag is not None:
        key, value = tag
        conditions.append(sa.func.coalesce(sums.tags[key].astext, "") == value)
    cost = sa.func.trim_scale(sa.func.sum(sums.cost), type_=sa.Numeric).label("cost")
    stmt = (
        sa.select(sums.customer_id, sums.day, cost)
        .where(*conditions)
        .group_by(sums.customer_id, sums.day)
        .order_by(sums.day, sums.customer_id)
    )
    return (await db.execute(stmt)).all()
