"""Reads the state of an invoice, marks it as sent, cancels it: first the checks in order."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.credit_notes.operations import list_notes
from nimbill.invoicing.documents.invoice_state import InvoiceState, find_state
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, lock_invoices
from nimbill.invoicing.sending import records
from nimbill.invoicing.sending.bodies import InvoiceStatus

basis = chosen("sent-invoices")


async def load_status(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> InvoiceStatus:
    row = await records.find_status(db, scope, period, company_id)
    if row is None:
        raise not_found()
    notes = await list_notes(db, scope, period, company_id)
    return InvoiceStatus(
        invoice_no=format_invoice_no(period.month, row.number),
        revision=row.revision,
        state=find_state(row.sent_time, row.cancelled_time),
        sent_time=row.sent_time and clock.format_timestamp(row.sent_time),
        sent_by=row.sent_by,
        cancelled_time=row.cancelled_time and clock.format_timestamp(row.cancelled_time),
        cancelled_by=row.cancelled_by,
        cancel_reason=row.cancel_reason,
        credited=sum_decimals(note.total for note in notes),
        credit_notes=[note.credit_note_no for note in notes],
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
    _refuse_cancelled(status)
    if status.revision != revision:
        raise Conflict(
            "revision_changed",
            "The invoice has another current revision. Read it again before marking it as sent.",
        )
    if status.state is InvoiceState.sent:
        return status
    await records.mark_as_sent(db, scope, period, company_id, by=by)
    return await load_status(db, scope, period, company_id)


async def cancel(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    *,
    reason: str,
    by: str,
) -> InvoiceStatus:
    """Cancel a sent invoice; it keeps its number and its documents."""
    await lock_invoices(db, scope, period, [company_id])
    status = await load_status(db, scope, period, company_id)
    _refuse_cancelled(status)
    if status.state is InvoiceState.created:
        raise Conflict(
            "not_sent", "The invoice was not sent yet. Create it again instead of cancelling it."
        )
    if status.credit_notes:
        raise Conflict(
            "has_credit_notes", "The invoice has credit notes. Credit the rest of it in full."
        )
    await records.cancel(db, scope, period, company_id, by=by, reason=reason)
    return await load_status(db, scope, period, company_id)


def _refuse_cancelled(status: InvoiceStatus) -> None:
    if status.state is InvoiceState.cancelled:
        raise Conflict("invoice_cancelled", "The invoice is cancelled. This cannot be undone.")
