"""Tagged sums of stored months: which months have other keys than the setting, and new sums."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.bulk_copy import copy_sums
from nimbill.costs.lake.records import (
    cost_months,
    cost_sums,
    cost_tagged_sums,
    delete_sums,
    load_stored_totals,
)
from nimbill.database.tenant_scope import TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod

if TYPE_CHECKING:
    import pyarrow as pa


def has_keys(keys: Collection[str]) -> sa.ColumnElement[bool]:
    """Whether the tagged sums of a row of `cost_months` have all of these keys."""
    return cost_months.c.tag_keys.contains(sa.literal(sorted(keys), ARRAY(sa.Text)))


async def list_stale_periods(
    db: AsyncConnection, scope: TenantScope, keys: Collection[str]
) -> list[BillingPeriod]:
    """List the months whose tagged sums have other keys than these, the latest first."""
    months = cost_months.c
    is_subset = months.tag_keys.contained_by(sa.literal(sorted(keys), ARRAY(sa.Text)))
    stmt = (
        sa.select(months.month, months.vendor)
        .where(of_tenant(cost_months, scope), sa.not_(has_keys(keys) & is_subset))
        .distinct()
        .order_by(months.month.desc(), months.vendor)
    )
    return [BillingPeriod(*row) for row in await db.execute(stmt)]


async def has_tagged_sums(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendors: Collection[str],
    keys: Collection[str],
) -> bool:
    """Return whether everything that is stored of the month has tagged sums with these keys."""
    months = cost_months.c
    lacks_keys = sa.exists().where(
        of_tenant(cost_months, scope),
        months.month == month,
        is_any_of(months.vendor, vendors),
        sa.not_(has_keys(keys)),
    )
    return not (await db.execute(sa.select(lacks_keys))).scalar_one()


async def replace_tagged_sums(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    payers: Collection[str],
    keys: Sequence[str],
    batches: Iterable[pa.RecordBatch],
) -> None:
    """Replace the tagged sums of these payers; all other sums stay as they are."""
    months = cost_months.c
    common = {
        "organisation_id": scope.organisation_id,
        "vendor": period.vendor,
        "month": period.month,
    }
    await delete_sums(db, scope, period, cost_tagged_sums, payers)
    await copy_sums(db, cost_tagged_sums, common, batches)
    await db.execute(
        sa.update(cost_months)
        .where(
            of_tenant(cost_months, scope),
            of_period(cost_months, period),
            is_any_of(months.payer_id, payers),
        )
        .values(tag_keys=list(keys))
    )


async def are_tagged_sums_complete(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payers: Collection[str]
) -> bool:
    """Return whether the tagged sums add up to the other sums of these payers."""
    tagged = await load_stored_totals(db, scope, period, cost_tagged_sums, payers)
    return tagged == await load_stored_totals(db, scope, period, cost_sums, payers)
