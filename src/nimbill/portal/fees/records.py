"""Queries on the recalculation entries of a customer."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_given_tenant

_entries = recalculation_entries.c
_LIST_APPLIED_ENTRIES = (
    sa.select(recalculation_entries)
    .where(
        of_given_tenant(recalculation_entries),
        _entries.applied_month == sa.bindparam("month"),
        is_any_of(_entries.customer_id, sa.bindparam("customer_ids")),
    )
    .order_by(
        _entries.vendor,
        _entries.customer_id,
        _entries.calc_type,
        _entries.description,
        _entries.entry_id,
    )
)


async def list_applied_entries(
    db: AsyncConnection, scope: TenantScope, month: str, customer_ids: Collection[str]
) -> Sequence[Row]:
    """List the entries that are applied to the month, in the order of the invoice."""
    values = {
        "organisation_id": scope.organisation_id,
        "month": month,
        "customer_ids": list(customer_ids),
    }
    return (await db.execute(_LIST_APPLIED_ENTRIES, values)).all()
