"""Queries on the recalculation entries of a customer."""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.database.compiled_statement import (
    CompiledStatement,
    is_any_of_parameter,
    text_parameter,
)
from nimbill.database.tenant_scope import TenantScope

_entries = recalculation_entries.c
_LIST_APPLIED_ENTRIES = CompiledStatement(
    sa.select(recalculation_entries)
    .where(
        _entries.organisation_id == text_parameter("organisation"),
        _entries.applied_month == text_parameter("month"),
        is_any_of_parameter(_entries.customer_id, "customer_ids"),
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
) -> Sequence[Any]:
    """List the entries that are applied to the month, in the order of the invoice."""
    return await _LIST_APPLIED_ENTRIES.fetch(
        db,
        organisation=scope.organisation_id,
        month=month,
        customer_ids=list(customer_ids),
    )
