"""Corrects sent invoices: compares them with recalculated ones, and returns the difference."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.requirement import ApprovedRequest
from nimbill.credit_notes.bodies import (
    CorrectedRate,
    CorrectionPreview,
    CorrectionPreviewRequest,
)
from nimbill.credit_notes.corrected_invoices import records as decisions
from nimbill.credit_notes.corrected_invoices.corrected_invoice import (
    ChangedTerm,
    apply_terms,
    correct_terms,
    list_changed_terms,
)
from nimbill.credit_notes.corrected_invoices.late_costs import (
    apply_settled_costs,
    correct_with_import,
    load_drift_import,
)
from nimbill.credit_notes.credit_note_rules import (
    NOTHING,
    CreditKind,
    RateSums,
    add_sums,
    is_returnable,
    subtract_by_rate,
)
from nimbill.credit_notes.document import (
    CreditedAmount,
    CreditNoteDocument,
    NoteCorrection,
    add_notes_by_rate,
    list_creditable_amounts,
    list_taxes,
    read_sums_by_rate,
)
from nimbill.credit_notes.operations import (
    NoteContent,
    load_notes_of_invoice,
    lock_credited_invoice,
    store_note,
)
from nimbill.customers.billing_groups.fee_targets import find_target_conflicts
from nimbill.customers.billing_groups.invoice_setting_rules import find_violations
from nimbill.customers.billing_groups.operations import InvoiceSettingUpdate
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.foundation.money import add_decimals, subtract_decimals, sum_decimals
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.documents.stored_invoices import list_revisions

ZERO = Decimal(0)


async def preview_correction(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    body: CorrectionPreviewRequest,
) -> CorrectionPreview:
    revisions = await list_revisions(db, scope, period, company_id)
    if not revisions:
        raise not_found()
    invoice = decode_document(revisions[0].document)
    notes = await load_notes_of_invoice(db, scope, invoice)
    base = apply_corrected_terms(invoice, notes)
    if body.terms is not None:
        corrected = correct_with_terms(await apply_settled_costs(db, scope, base), body.terms)
    else:
        found, month = await load_drift_import(db, scope, body.import_id or "")
        if month != period:
            raise not_found()
        corrected = await correct_with_import(
            db, scope, found, base, one_off_lines=bool(body.one_off_lines)
        )
    applied = await decisions.list_applied_decisions(db, scope, invoice)
    netted = decisions.sum_entries(applied)
    return _build_preview(invoice, notes, corrected, netted)


def correct_with_terms(invoice: InvoiceDocument, terms: InvoiceSettingUpdate) -> InvoiceDocument:
    """Return the invoice under corrected terms; refuse terms that cannot be saved for a month.

    The stored charges have the tags of the invoice or none, and amounts in two currencies cannot be
    subtracted. So neither can be corrected; such an invoice is replaced.
    """
    fixed = {
        "vendor": (terms.vendor, invoice.vendor),
        "invoices.calc_type": (terms.invoices.calc_type, invoice.terms.calc_type),
        "invoices.currency": (terms.invoices.currency, invoice.currency.value),
    }
    refuse_if(
        [
            Violation(f"terms.{field}", f"{own}, as on the invoice")
            for field, (sent, own) in fixed.items()
            if sent != own
        ]
    )
    setting = msgspec.structs.asdict(terms.invoices)
    refuse_if(
        list(find_violations(setting, terms.vendor, ["create", "update"], "terms.invoices"))
        or list(find_target_conflicts(setting, "terms.invoices"))
    )
    target = terms.support_fee_target
    try:
        return correct_terms(
            invoice, terms.invoices, None if target is None else (target.usage, target.scope)
        )
    except CannotBeBilled as refusal:
        raise Conflict(
            refusal.reason, "The invoice cannot be calculated with these terms."
        ) from None


async def correct_invoice_terms(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    terms: InvoiceSettingUpdate,
    *,
    reason: str,
    by: str,
    approved: ApprovedRequest | None = None,
) -> CreditNoteDocument:
    """Issue the note that corrects a sent invoice to one under other terms."""
    invoice, notes = await lock_credited_invoice(db, scope, period, company_id)
    base = await apply_settled_costs(db, scope, apply_corrected_terms(invoice, notes))
    corrected = correct_with_terms(base, terms)
    return await issue_correction(
        db,
        scope,
        invoice,
        notes,
        corrected,
        import_id=None,
        reason=reason,
        by=by,
        approved=approved,
    )


def apply_corrected_terms(
    invoice: InvoiceDocument, notes: Iterable[CreditNoteDocument]
) -> InvoiceDocument:
    """Return the invoice with the terms of its last correcting note."""
    corrections = [note.correction for note in notes if note.correction is not None]
    if not corrections:
        return invoice
    return apply_terms(invoice, corrections[-1].setting, corrections[-1].terms)


async def issue_correction(
    db: AsyncConnection,
    scope: TenantScope,
    invoice: InvoiceDocument,
    notes: Sequence[CreditNoteDocument],
    corrected: InvoiceDocument,
    *,
    import_id: str | None,
    reason: str,
    by: str,
    approved: ApprovedRequest | None = None,
) -> CreditNoteDocument:
    """Issue the note after which invoice and notes add up to the corrected invoice.

    The caller holds the lock of the invoice.
    """
    await refuse_netted(db, scope, invoice)
    remaining = subtract_by_rate(read_sums_by_rate(invoice), add_notes_by_rate(notes))
    difference = subtract_by_rate(remaining, read_sums_by_rate(corrected))
    if not is_returnable(difference, remaining):
        raise Conflict(
            "corrected_is_higher",
            "The corrected invoice is higher than what is left of the invoice, for at least one "
            "tax rate. Replace the invoice, or net the difference as an entry.",
        )
    returned = {rate: each for rate, each in difference.items() if each}
    total = add_sums(returned.values())
    if add_decimals(total.pre_tax, total.tax) <= 0:
        raise Conflict("nothing_to_credit", "The corrected invoice is what is left already.")
    content = NoteContent(
        CreditKind.correction,
        reason,
        list_corrected_amounts(invoice, notes, corrected),
        list_taxes(returned),
        NoteCorrection(
            import_id=import_id,
            changed_terms=_list_changed_terms(invoice, notes, corrected),
            setting=corrected.setting,
            terms=corrected.terms,
            corrected=list_taxes(read_sums_by_rate(corrected)),
            corrected_total=corrected.sheet.total,
        ),
    )
    return await store_note(db, scope, invoice, content, by=by, approved=approved)


def _list_changed_terms(
    invoice: InvoiceDocument, notes: Iterable[CreditNoteDocument], corrected: InvoiceDocument
) -> list[ChangedTerm]:
    return list_changed_terms(apply_corrected_terms(invoice, notes).terms, corrected.terms)


async def refuse_netted(db: AsyncConnection, scope: TenantScope, invoice: InvoiceDocument) -> None:
    """The tax of an entry belongs to another invoice, so that no note can be exact any more."""
    applied = await decisions.list_applied_decisions(db, scope, invoice)
    if decisions.sum_entries(applied) is not None:
        raise Conflict(
            "corrected_by_entry",
            "An entry of another month corrects this invoice already. Use an entry again.",
        )


def list_corrected_amounts(
    invoice: InvoiceDocument,
    notes: Sequence[CreditNoteDocument],
    corrected: InvoiceDocument,
) -> list[CreditedAmount]:
    """List by how much each printed amount becomes lower, and what earlier notes returned of it.

    The rows add up to the note for each tax rate.
    """
    before, after = list_creditable_amounts(invoice), list_creditable_amounts(corrected)
    lower: dict[tuple[str, bool], tuple[str | None, Decimal]] = {}
    for amount in before.values():
        key = (amount.description, amount.tax_free)
        name, known = lower.get(key, (amount.line, ZERO))
        lower[key] = (name, add_decimals(known, amount.amount))
    for amount in after.values():
        key = (amount.description, amount.tax_free)
        name, known = lower.get(key, (None, ZERO))
        lower[key] = (name, subtract_decimals(known, amount.amount))
    rows = [
        CreditedAmount(line=line, description=description, amount=amount, tax_free=tax_free)
        for (description, tax_free), (line, amount) in lower.items()
        if amount
    ]
    for note in notes:
        rows += [
            CreditedAmount(
                line=None,
                description="",
                credit_note_no=note.credit_note_no,
                amount=each.pre_tax.copy_negate(),
                tax_free=each.tax_rate is None,
            )
            for each in note.taxes
            if each.pre_tax
        ]
    return rows


def _build_preview(
    invoice: InvoiceDocument,
    notes: Sequence[CreditNoteDocument],
    corrected: InvoiceDocument,
    netted: Decimal | None,
) -> CorrectionPreview:
    invoiced, credited = read_sums_by_rate(invoice), add_notes_by_rate(notes)
    remaining = subtract_by_rate(invoiced, credited)
    new = read_sums_by_rate(corrected)
    returned = subtract_by_rate(remaining, new)
    credited_total = sum_decimals(note.total for note in notes)
    left = subtract_decimals(invoice.sheet.total, credited_total)
    difference = subtract_decimals(corrected.sheet.total, left)
    can_credit = netted is None and is_returnable(returned, remaining)
    return CorrectionPreview(
        invoice_no=invoice.invoice_no,
        revision=invoice.revision,
        month=invoice.month,
        company_id=invoice.company_id,
        vendor=invoice.vendor,
        currency=invoice.currency,
        exchange_rate=invoice.exchange_rate,
        changed_terms=_list_changed_terms(invoice, notes, corrected),
        rates=[_build_rate(rate, invoiced, credited, new) for rate in returned],
        invoiced_total=invoice.sheet.total,
        credited_total=credited_total,
        corrected_total=corrected.sheet.total,
        difference=difference,
        netted=ZERO if netted is None else netted,
        can_credit=can_credit and difference < 0,
        corrected=corrected.sheet,
    )


def _build_rate(
    rate: Decimal | None, invoiced: RateSums, credited: RateSums, corrected: RateSums
) -> CorrectedRate:
    was, back, new = (sums.get(rate, NOTHING) for sums in (invoiced, credited, corrected))
    return CorrectedRate(
        tax_rate=rate,
        invoiced=was.pre_tax,
        invoiced_tax=was.tax,
        credited=back.pre_tax,
        credited_tax=back.tax,
        corrected=new.pre_tax,
        corrected_tax=new.tax,
        difference=subtract_decimals(new.pre_tax, subtract_decimals(was.pre_tax, back.pre_tax)),
        difference_tax=subtract_decimals(new.tax, subtract_decimals(was.tax, back.tax)),
    )
