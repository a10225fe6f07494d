"""Reads the state of an invoice, marks it as sent, cancels it: first the checks in order."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import (
    ApprovedRequest,
    approval_required,
    is_approval_required,
    require_approval,
)
from nimbill.credit_notes.operations import list_notes
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, not_found
from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.documents.invoice_approvals import list_unapproved_groups
from nimbill.invoicing.documents.invoice_state import InvoiceState, find_state
from nimbill.invoicing.documents.replaced_invoices import list_replaced_invoices
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, lock_invoices
from nimbill.issuing.sending import records
from nimbill.issuing.sending.bodies import InvoiceStatus, ReplacedInvoice
from nimbill.receivables.payments.records import has_payments
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_event

__all__ = ["InvoiceStatus"]  # also used by deliveries, and the response of replacing an invoice


async def load_status(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> InvoiceStatus:
    row = await records.find_status(db, scope, period, company_id)
    if row is None:
        raise not_found()
    notes = await list_notes(db, scope, period, company_id)
    replaced = [
        _build_replaced(period.month, each)
        for each in await list_replaced_invoices(db, scope, period, company_id)
    ]
    credited = sum_decimals(note.total for note in notes)
    state = find_state(
        row.sent_time,
        row.cancelled_time,
        is_approved=row.is_approved,
        total=row.total,
        credited=credited if notes else None,
    )
    return InvoiceStatus(
        invoice_no=format_invoice_no(period.month, row.number),
        revision=row.revision,
        state=state,
        sent_time=row.sent_time and clock.format_timestamp(row.sent_time),
        sent_by=row.sent_by,
        publish_time=row.publish_time and clock.format_timestamp(row.publish_time),
        cancelled_time=row.cancelled_time and clock.format_timestamp(row.cancelled_time),
        cancelled_by=row.cancelled_by,
        cancel_reason=row.cancel_reason,
        credited=credited,
        credit_notes=[note.credit_note_no for note in notes],
        replaces=replaced[0].invoice_no if replaced else None,
        replaced=replaced,
    )


def _build_replaced(month: str, row: Row) -> ReplacedInvoice:
    return ReplacedInvoice(
        invoice_no=format_invoice_no(month, row.number),
        revision=row.revision,
        state=InvoiceState.replaced,
        sent_time=clock.format_timestamp(row.sent_time),
        sent_by=row.sent_by,
        replacement_no=format_invoice_no(month, row.replacement_number),
        replaced_time=clock.format_timestamp(row.replaced_time),
        replaced_by=row.replaced_by,
        reason=row.reason,
        import_id=row.import_id,
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
    if status.sent_time is not None:
        return status
    await mark_all_as_sent(db, scope, period, [company_id], by=by)
    sent = describe_invoice(period, company_id, status.invoice_no, status.revision)
    await publish_event(db, scope, WebhookEventType.invoice_sent, sent)
    return await load_status(db, scope, period, company_id)


async def mark_all_as_sent(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_ids: Collection[str],
    *,
    by: str,
    publish_time: datetime | None = None,
) -> set[str]:
    """Mark those that were not sent yet, and return their groups; every way of sending ends here.

    The caller holds the lock of the invoices, which keeps their approved revisions current.
    """
    if await is_approval_required(db, scope, ApprovalKind.invoice_issue):
        unapproved = await list_unapproved_groups(db, scope, period, company_ids)
        if unapproved:
            violations = [Violation(company_id, "not_approved") for company_id in unapproved]
            raise approval_required(ApprovalKind.invoice_issue, violations)
    return await records.mark_as_sent(
        db, scope, period, company_ids, by=by, publish_time=publish_time
    )


async def publish(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    publish_time: datetime,
) -> InvoiceStatus:
    """Choose another time from which customers see a sent invoice; a past one means now."""
    await lock_invoices(db, scope, period, [company_id])
    status = await load_status(db, scope, period, company_id)
    _refuse_cancelled(status)
    if status.sent_time is None:
        raise Conflict("not_sent", "The invoice was not sent yet. Send it before publishing it.")
    await records.publish(db, scope, period, company_id, publish_time)
    return await load_status(db, scope, period, company_id)


async def cancel(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    *,
    reason: str,
    by: str,
    approved: ApprovedRequest | None = None,
) -> InvoiceStatus:
    """Cancel a sent invoice; it keeps its number and its documents.

    Nothing of it is owed any more, so this needs the approval of a credit note.
    """
    await lock_invoices(db, scope, period, [company_id])
    status = await load_status(db, scope, period, company_id)
    _refuse_cancelled(status)
    if status.sent_time is None:
        raise Conflict(
            "not_sent", "The invoice was not sent yet. Create it again instead of cancelling it."
        )
    if status.credit_notes:
        raise Conflict(
            "has_credit_notes", "The invoice has credit notes. Credit the rest of it in full."
        )
    if await has_payments(db, scope, period, company_id):
        raise Conflict(
            "has_payments", "The invoice has payments. Reverse them before you cancel the invoice."
        )
    await require_approval(db, scope, ApprovalKind.credit_note, approved)
    await records.cancel(db, scope, period, company_id, by=by, reason=reason)
    cancelled = describe_invoice(period, company_id, status.invoice_no, status.revision)
    await publish_event(db, scope, WebhookEventType.invoice_cancelled, cancelled)
    return await load_status(db, scope, period, company_id)


def describe_invoice(
    period: BillingPeriod, company_id: str, invoice_no: str, revision: int
) -> dict[str, str | int]:
    """Return what events tell about an invoice."""
    return {
        "month": period.month,
        "company_id": company_id,
        "vendor": period.vendor,
        "invoice_no": invoice_no,
        "revision": revision,
    }


def _refuse_cancelled(status: InvoiceStatus) -> None:
    if status.state is InvoiceState.cancelled:
        raise Conflict("invoice_cancelled", "The invoice is cancelled. This cannot be undone.")
