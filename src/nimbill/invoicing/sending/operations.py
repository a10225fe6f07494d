"""Reads the state of an invoice and marks it as sent: the checks in order, then the change."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, lock_invoices
from nimbill.invoicing.sending import records
from nimbill.invoicing.sending.bodies import InvoiceState, InvoiceStatus

basis = chosen("sent-invoices")


async def load_status(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> InvoiceStatus:
    row = await records.find_status(db, scope, period, company_id)
    if row is None:
        raise not_found()
    return InvoiceStatus(
        invoice_no=format_invoice_no(period.month, row.number),
        revision=row.revision,
        state=InvoiceState.created if row.sent_time is None else InvoiceState.sent,
        sent_time=row.sent_time and clock.format_timestamp(row.sent_time),
        sent_by=row.sent_by,
    )


async def mark_as_sent(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    *,
    revision: int,
    by: str,
) -> InvoiceStatus:
    """Mark the current revision; a sent invoice keeps its first time and user.

    The lock keeps a run from adding a revision in between.
    """
    await lock_invoices(db, scope, period, [company_id])
    status = await load_status(db, scope, period, company_id)
    if status.revision != revision:
        raise Conflict(
            "revision_changed",
            "The invoice has another current revision. Read it again before marking it as sent.",
        )
    if status.state is InvoiceState.sent:
        return status
    await records.mark_as_sent(db, scope, period, company_id, by=by)
    return await load_status(db, scope, period, company_id)
