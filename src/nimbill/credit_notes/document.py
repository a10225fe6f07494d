"""The stored credit note: everything that is printed on it.

API, CSV and PDF read only this document, so that they show what was issued.
"""

from collections.abc import Iterable
from decimal import Decimal

import msgspec

from nimbill.credit_notes.corrected_invoices.corrected_invoice import ChangedTerm
from nimbill.credit_notes.credit_note_rules import (
    CreditKind,
    RateSums,
    TaxedSum,
    add_sums,
)
from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.foundation import exact_json
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.documents.document import Addressee, InvoiceDocument, Issuer


class _FrozenPart(msgspec.Struct, frozen=True, kw_only=True):
    pass


class CreditedAmount(_FrozenPart, frozen=True, kw_only=True):
    """A printed row, before tax."""

    line: str | None  # of the invoice, such as usage-1
    description: str  # empty for what was left of the invoice
    amount: Decimal
    tax_free: bool
    credit_note_no: str | None = None  # of an earlier note, whose amount is taken off


class CreditedTax(_FrozenPart, frozen=True, kw_only=True):
    """The sum for one tax rate, which is None for what is not subject to tax."""

    tax_rate: Decimal | None
    pre_tax: Decimal
    tax: Decimal


class NoteCorrection(_FrozenPart, frozen=True, kw_only=True):
    """What was corrected: the costs, by an import of late costs, or some of the terms."""

    import_id: str | None
    changed_terms: list[ChangedTerm]  # since the correction before, or else since the invoice
    setting: InvoiceSetting  # of the corrected invoice; later corrections start from it
    terms: Terms
    corrected: list[CreditedTax]  # the corrected invoice, which invoice and notes add up to
    corrected_total: Decimal


class CreditNoteDocument(_FrozenPart, frozen=True, kw_only=True):
    form: int = 1  # increased when the format changes; older documents stay readable

    credit_note_id: str
    credit_note_no: str
    kind: CreditKind
    reason: str
    issue_date: str  # yyyy-mm-dd in the organisation's time zone
    language: Language

    # the invoice
    invoice_no: str
    revision: int
    invoice_date: str
    month: str
    vendor: str
    vendor_name: str
    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    addressee: Addressee
    issuer: Issuer | None

    currency: Currency
    amounts: list[CreditedAmount]
    taxes: list[CreditedTax]
    pre_tax: Decimal
    tax: Decimal
    total: Decimal

    correction: NoteCorrection | None = None  # only of notes of this kind


def encode_note(document: CreditNoteDocument) -> str:
    """Encode as JSON; decimals keep their digits."""
    return exact_json.encode(document).decode()


def decode_note(text: str) -> CreditNoteDocument:
    return _decoder.decode(text)


_decoder = msgspec.json.Decoder(CreditNoteDocument)


def list_creditable_amounts(invoice: InvoiceDocument) -> dict[str, CreditedAmount]:
    """The printed amounts of an invoice by the names that its explanation uses."""
    sheet = invoice.sheet
    found = [
        CreditedAmount(
            line=f"usage-{number}",
            description=" ".join(filter(None, (line.customer_id or line.tag, line.name))),
            amount=line.after,
            tax_free=False,
        )
        for number, line in enumerate(sheet.lines, start=1)
    ]
    found += [
        CreditedAmount(line=name, description=name, amount=fee.after, tax_free=False)
        for name, fee in (("support", sheet.support), ("agency", sheet.agency))
        if fee
    ]
    found += [
        CreditedAmount(
            line=f"entry-{number}",
            description=entry.description or entry.calc_type,
            amount=entry.amount,
            tax_free=entry.tax_free,
        )
        for number, entry in enumerate(sheet.entries, start=1)
    ]
    found += [
        CreditedAmount(
            line=f"item-{number}", description=item.label, amount=item.total, tax_free=False
        )
        for number, item in enumerate(sheet.items, start=1)
    ]
    return {amount.line: amount for amount in found if amount.line is not None}


def read_invoiced_sums(invoice: InvoiceDocument) -> dict[bool, TaxedSum]:
    """What was invoiced with tax (False) and free of tax (True)."""
    sheet = invoice.sheet
    return {
        False: TaxedSum(sheet.taxable, sheet.tax),
        True: TaxedSum(sheet.tax_free, Decimal(0)),
    }


def read_credited_sums(note: CreditNoteDocument) -> dict[bool, TaxedSum]:
    """What a note returned with tax (False) and free of tax (True)."""
    return {
        tax_free: add_sums(
            TaxedSum(each.pre_tax, each.tax)
            for each in note.taxes
            if (each.tax_rate is None) is tax_free
        )
        for tax_free in (False, True)
    }


def read_sums_by_rate(invoice: InvoiceDocument) -> dict[Decimal | None, TaxedSum]:
    """What was invoiced, by tax rate; nothing that is free of tax is left out."""
    sums = read_invoiced_sums(invoice)
    by_rate: dict[Decimal | None, TaxedSum] = {invoice.sheet.tax_rate: sums[False]}
    if sums[True]:
        by_rate[None] = sums[True]
    return by_rate


def add_notes_by_rate(notes: Iterable[CreditNoteDocument]) -> dict[Decimal | None, TaxedSum]:
    """What notes returned, by tax rate."""
    found: dict[Decimal | None, list[TaxedSum]] = {}
    for note in notes:
        for each in note.taxes:
            found.setdefault(each.tax_rate, []).append(TaxedSum(each.pre_tax, each.tax))
    return {rate: add_sums(sums) for rate, sums in found.items()}


def list_taxes(sums: RateSums) -> list[CreditedTax]:
    return [
        CreditedTax(tax_rate=rate, pre_tax=each.pre_tax, tax=each.tax)
        for rate, each in sums.items()
    ]
