"""Issues credit notes: the checks in order, then the note."""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.credit_notes import records
from nimbill.credit_notes.bodies import CreditNoteRequest, ShortCreditNote
from nimbill.credit_notes.credit_note_rules import (
    CreditKind,
    TaxedSum,
    TaxTerms,
    add_sums,
    calculate_tax,
    describe_unit,
    is_payable,
    is_within,
    subtract_notes,
)
from nimbill.credit_notes.document import (
    CreditedAmount,
    CreditedTax,
    CreditNoteDocument,
    NoteCorrection,
    decode_note,
    list_creditable_amounts,
    read_credited_sums,
    read_invoiced_sums,
)
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.money import add_decimals, sum_decimals
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_event


class NoteContent(NamedTuple):
    """What a note returns, and why."""

    kind: CreditKind
    reason: str
    amounts: list[CreditedAmount]
    taxes: list[CreditedTax]
    correction: NoteCorrection | None = None


Sums = dict[bool, TaxedSum]  # with tax (False), and free of tax (True)


async def issue_note(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    body: CreditNoteRequest,
    *,
    by: str,
    approved: ApprovedRequest | None = None,
) -> CreditNoteDocument:
    """Issue a note for a sent invoice."""
    invoice, notes = await lock_credited_invoice(db, scope, period, company_id)
    remaining = subtract_all(invoice, notes)
    amounts = _select_amounts(invoice, notes, remaining, body)
    taxes = _sum_taxes(invoice, remaining, amounts, body.kind)
    content = NoteContent(body.kind, body.reason, amounts, taxes)
    return await store_note(db, scope, invoice, content, by=by, approved=approved)


async def lock_credited_invoice(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> tuple[InvoiceDocument, list[CreditNoteDocument]]:
    """Lock a sent invoice; return it with its notes.

    The lock keeps two notes from returning the same amount.
    """
    existing = await stored_invoices.lock_invoices(db, scope, period, [company_id])
    revisions = await stored_invoices.list_revisions(db, scope, period, company_id)
    if not revisions:
        raise not_found()
    _refuse_unsent(existing[company_id])
    invoice = decode_document(revisions[0].document)
    return invoice, await load_notes_of_invoice(db, scope, invoice)


async def load_notes_of_invoice(
    db: AsyncConnection, scope: TenantScope, invoice: InvoiceDocument
) -> list[CreditNoteDocument]:
    """An invoice that replaces another one has the same month, group and vendor."""
    period = BillingPeriod(invoice.month, invoice.vendor)
    rows = await records.list_notes_of_invoice(db, scope, period, invoice.company_id)
    notes = [decode_note(row.document) for row in rows]
    return [note for note in notes if note.invoice_no == invoice.invoice_no]


async def store_note(
    db: AsyncConnection,
    scope: TenantScope,
    invoice: InvoiceDocument,
    content: NoteContent,
    *,
    by: str,
    approved: ApprovedRequest | None = None,
) -> CreditNoteDocument:
    """Number and store a note; the caller holds the lock of the invoice."""
    await require_approval(db, scope, ApprovalKind.credit_note, approved)
    settings = await load_settings(db, scope)
    issue_date = clock.local_date(clock.now(), settings.time_zone).isoformat()
    number = await records.allocate_number(db, scope, issue_date[:7])
    number_text = records.format_credit_note_no(issue_date[:7], number)
    note = _build_note(invoice, content, number_text, issue_date)
    await records.add_note(db, scope, note, number, by=by)
    await publish_event(db, scope, WebhookEventType.credit_note_issued, _describe_note(note))
    return note


def _describe_note(note: CreditNoteDocument) -> dict[str, str | int]:
    return {
        "credit_note_id": note.credit_note_id,
        "credit_note_no": note.credit_note_no,
        "month": note.month,
        "company_id": note.company_id,
        "vendor": note.vendor,
        "invoice_no": note.invoice_no,
        "revision": note.revision,
    }


def _refuse_unsent(invoice: stored_invoices.ExistingInvoice) -> None:
    if not invoice.is_sent:
        raise Conflict(
            "not_sent", "The invoice was not sent yet. Create it again instead of crediting it."
        )
    if invoice.is_cancelled:
        raise Conflict("invoice_cancelled", "The invoice is cancelled; nothing of it is owed.")


def subtract_all(invoice: InvoiceDocument, notes: Sequence[CreditNoteDocument]) -> Sums:
    """Return what the notes leave of the invoice."""
    return {
        tax_free: subtract_notes(invoiced, [read_credited_sums(note)[tax_free] for note in notes])
        for tax_free, invoiced in read_invoiced_sums(invoice).items()
    }


def _select_amounts(
    invoice: InvoiceDocument,
    notes: Sequence[CreditNoteDocument],
    remaining: Sums,
    body: CreditNoteRequest,
) -> list[CreditedAmount]:
    if body.kind is CreditKind.full:
        return [
            CreditedAmount(line=None, description="", amount=left.pre_tax, tax_free=tax_free)
            for tax_free, left in remaining.items()
            if left
        ]
    if body.kind is CreditKind.lines:
        return _select_lines(invoice, notes, body.lines or [])
    unit = describe_unit(invoice.currency)
    refuse_if(
        [
            Violation(f"amounts[{index}].amount", unit)
            for index, credit in enumerate(body.amounts or [])
            if not is_payable(credit.amount, invoice.currency)
        ]
    )
    return [
        CreditedAmount(
            line=None,
            description=credit.description,
            amount=credit.amount,
            tax_free=credit.tax_free,
        )
        for credit in body.amounts or []
    ]


def _select_lines(
    invoice: InvoiceDocument, notes: Sequence[CreditNoteDocument], names: Sequence[str]
) -> list[CreditedAmount]:
    creditable = list_creditable_amounts(invoice)
    refuse_if(
        [
            Violation(f"lines[{index}]", "a line of the invoice, each once")
            for index, name in enumerate(names)
            if name not in creditable or name in names[:index]
        ]
    )
    credited = {amount.line for note in notes for amount in note.amounts}
    repeated = [name for name in names if name in credited]
    if repeated:
        raise Conflict(
            "line_already_credited",
            "A credit note returned these lines already.",
            violations=[Violation(name, "not credited yet") for name in repeated],
        )
    return [creditable[name] for name in names]


def _sum_taxes(
    invoice: InvoiceDocument, remaining: Sums, amounts: Sequence[CreditedAmount], kind: CreditKind
) -> list[CreditedTax]:
    """Add up the note for each tax rate; refuse more than is left of the invoice."""
    rate = invoice.sheet.tax_rate
    taxes = []
    for tax_free, left in remaining.items():
        own = [amount.amount for amount in amounts if amount.tax_free is tax_free]
        if not own:
            continue
        pre_tax = sum_decimals(own)
        if not is_within(pre_tax, left.pre_tax):
            raise Conflict(
                "exceeds_invoice",
                "The note is more than what is left of the invoice for this tax rate, "
                f"which is {left.pre_tax:f} before tax.",
            )
        terms = TaxTerms(Decimal(0) if tax_free else rate, invoice.currency, invoice.terms.rounding)
        tax = calculate_tax(kind, pre_tax, left, terms)
        taxes.append(CreditedTax(tax_rate=None if tax_free else rate, pre_tax=pre_tax, tax=tax))
    if sum_decimals(value for each in taxes for value in (each.pre_tax, each.tax)) <= 0:
        raise Conflict(
            "nothing_to_credit", "The note would return nothing: the sum is not above 0."
        )
    return taxes


def _build_note(
    invoice: InvoiceDocument, content: NoteContent, number: str, issue_date: str
) -> CreditNoteDocument:
    total = add_sums(TaxedSum(each.pre_tax, each.tax) for each in content.taxes)
    return CreditNoteDocument(
        credit_note_id=new_id("crn"),
        credit_note_no=number,
        kind=content.kind,
        reason=content.reason,
        issue_date=issue_date,
        language=invoice.language,
        invoice_no=invoice.invoice_no,
        revision=invoice.revision,
        invoice_date=invoice.issue_date,
        month=invoice.month,
        vendor=invoice.vendor,
        vendor_name=invoice.vendor_name,
        company_id=invoice.company_id,
        billinggroup_id=invoice.billinggroup_id,
        billinggroup_name=invoice.billinggroup_name,
        addressee=invoice.addressee,
        issuer=invoice.issuer,
        currency=invoice.currency,
        amounts=content.amounts,
        taxes=content.taxes,
        pre_tax=total.pre_tax,
        tax=total.tax,
        total=add_decimals(total.pre_tax, total.tax),
        correction=content.correction,
    )


async def load_note(
    db: AsyncConnection, scope: TenantScope, credit_note_id: str
) -> CreditNoteDocument:
    note = await records.find_note(db, scope, credit_note_id)
    if note is None:
        raise not_found()
    return note


async def list_notes(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> list[ShortCreditNote]:
    if not await stored_invoices.list_revisions(db, scope, period, company_id, revision=1):
        raise not_found()
    rows = await records.list_notes_of_invoice(db, scope, period, company_id)
    return [_shorten(row) for row in rows]


async def list_notes_of_month(
    db: AsyncConnection, scope: TenantScope, month: str
) -> list[ShortCreditNote]:
    return [_shorten(row) for row in await records.list_notes_of_month(db, scope, month)]


async def load_notes_of_month(
    db: AsyncConnection, scope: TenantScope, month: str
) -> list[CreditNoteDocument]:
    rows = await records.list_notes_of_month(db, scope, month)
    return [decode_note(row.document) for row in rows]


def _shorten(row: Row) -> ShortCreditNote:
    note = decode_note(row.document)
    return ShortCreditNote(
        credit_note_id=note.credit_note_id,
        credit_note_no=note.credit_note_no,
        kind=note.kind,
        reason=note.reason,
        issue_date=note.issue_date,
        invoice_no=note.invoice_no,
        month=note.month,
        company_id=note.company_id,
        vendor=note.vendor,
        currency=note.currency,
        pre_tax=note.pre_tax,
        tax=note.tax,
        total=note.total,
        create_time=clock.format_timestamp(row.create_time),
        created_by=row.created_by,
    )
