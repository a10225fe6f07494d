"""The terms of stored invoices that the price of a customer's usage follows from."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, is_any_of
from nimbill.foundation.basis import chosen
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_revision,
)

basis = chosen("customer-prices")

_invoices, _revisions = invoices.c, invoice_revisions.c


async def list_invoiced_terms(
    db: AsyncConnection, scope: TenantScope, months: Sequence[str], company_ids: Collection[str]
) -> Sequence[Row]:
    """List the terms of the current invoices that the price of usage follows from.

    Columns: company_id, vendor, month, currency, discount_rate, exchange_rate.
    """
    stmt = (
        sa.select(
            _revisions.company_id,
            _revisions.vendor,
            _revisions.month,
            _revisions.currency,
            _revisions.discount_rate,
            _revisions.exchange_rate,
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .where(
            _invoices.organisation_id == scope.organisation_id,
            is_any_of(_invoices.month, months),
            is_any_of(_invoices.company_id, company_ids),
        )
    )
    return (await db.execute(stmt)).all()
