"""Replaces a sent invoice by a new one: the checks in order, then the change."""

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import lock_month
from nimbill.credit_notes.corrections import refuse_netted
from nimbill.credit_notes.operations import lock_credited_invoice
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict
from nimbill.foundation.ids import new_id
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import InvoiceDocument, build_draft
from nimbill.invoicing.documents.issuer import calculate_due_date
from nimbill.invoicing.documents.replaced_invoices import give_new_number
from nimbill.invoicing.documents.stored_invoices import NumberedDraft
from nimbill.invoicing.runs.build_invoice import build_invoice
from nimbill.invoicing.runs.invoice_run import load_batch
from nimbill.invoicing.runs.operations import refuse_if_missing
from nimbill.issuing.sending.operations import InvoiceStatus, describe_invoice, load_status
from nimbill.receivables.payments.records import has_payments
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_event


async def replace_invoice(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    *,
    reason: str,
    by: str,
    approved: ApprovedRequest | None = None,
) -> InvoiceStatus:
    """Replace a sent invoice of an open month by one from the current settings and costs."""
    state = await lock_month(db, scope, period, shared=True)
    invoice = await lock_replaceable_invoice(db, scope, period, company_id)
    MonthChange.replace_invoice.refuse_if_closed(state)
    if state.is_parked:
        raise Conflict("month_parked", "An import of this month is parked. Release it first.")
    batch = await load_batch(db, scope, period, [company_id])
    try:
        document = build_invoice(
            batch.inputs[company_id], batch.context.settings, period, clock.now()
        )
    except CannotBeBilled as refusal:
        refuse_if_missing({company_id: refusal.reason})
        raise
    await store_replacement(db, scope, invoice, document, reason=reason, by=by, approved=approved)
    return await load_status(db, scope, period, company_id)


async def replace_with_correction(
    db: AsyncConnection,
    scope: TenantScope,
    invoice: InvoiceDocument,
    corrected: InvoiceDocument,
    *,
    import_id: str,
    reason: str,
    by: str,
    approved: ApprovedRequest | None = None,
) -> str:
    """Replace an invoice of a closed month by the corrected one; return the new number.

    It is issued today, and due by the rule of the template that the group has now.
    """
    period = BillingPeriod(invoice.month, invoice.vendor)
    batch = await load_batch(db, scope, period, [invoice.company_id])
    issue_date = clock.local_date(clock.now(), batch.context.settings.time_zone)
    template = batch.inputs[invoice.company_id].template
    dated = msgspec.structs.replace(
        corrected,
        issue_date=issue_date.isoformat(),
        due_date=calculate_due_date({} if template is None else template.content, issue_date),
    )
    return await store_replacement(
        db, scope, invoice, dated, import_id=import_id, reason=reason, by=by, approved=approved
    )


async def lock_replaceable_invoice(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> InvoiceDocument:
    """Lock a sent invoice that no other document has corrected yet."""
    invoice, notes = await lock_credited_invoice(db, scope, period, company_id)
    if notes:
        raise Conflict(
            "has_credit_notes", "The invoice has credit notes. Credit the rest of it in full."
        )
    await refuse_netted(db, scope, invoice)
    if await has_payments(db, scope, period, company_id):
        raise Conflict(
            "has_payments", "The invoice has payments. Reverse them before you replace the invoice."
        )
    return invoice


async def store_replacement(
    db: AsyncConnection,
    scope: TenantScope,
    invoice: InvoiceDocument,
    document: InvoiceDocument,
    *,
    reason: str,
    by: str,
    import_id: str | None = None,
    approved: ApprovedRequest | None = None,
) -> str:
    """Store the new invoice and return its number; the caller holds the lock of the old one.

    Nothing of the old one is owed any more, so this needs the approval of a credit note.
    """
    await require_approval(db, scope, ApprovalKind.credit_note, approved)
    period = BillingPeriod(invoice.month, invoice.vendor)
    number = next(await stored_invoices.allocate_numbers(db, scope, period.month, 1))
    await give_new_number(
        db, scope, period, invoice.company_id, number, reason=reason, import_id=import_id, by=by
    )
    draft = build_draft(
        msgspec.structs.replace(document, invoice_no="", revision=0, replaces=invoice.invoice_no)
    )
    numbered = NumberedDraft(number, invoice.revision + 1, draft)
    await stored_invoices.add_revisions(db, scope, period, new_id("rpl"), [numbered])
    invoice_no = stored_invoices.format_invoice_no(period.month, number)
    created = describe_invoice(period, invoice.company_id, invoice_no, numbered.revision)
    await publish_event(db, scope, WebhookEventType.invoice_created, created)
    return invoice_no
