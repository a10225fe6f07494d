"""Queries on the recalculation entries of a customer."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of

_entries = recalculation_entries.c


async def list_applied_entries(
    db: AsyncConnection, scope: TenantScope, month: str, customer_ids: Collection[str]
) -> Sequence[Row]:
    """List the entries that are applied to the month, in the order of the invoice."""
    stmt = (
        sa.select(recalculation_entries)
        .where(
            _entries.organisation_id == scope.organisation_id,
            _entries.applied_month == month,
            is_any_of(_entries.customer_id, customer_ids),
        )
        .order_by(
            _entries.vendor,
            _entries.customer_id,
            _entries.calc_type,
            _entries.description,
            _entries.entry_id,
        )
    )
    return (await db.execute(stmt)).all()
