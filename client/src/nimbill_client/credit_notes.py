"""Credit notes: what is returned to a customer after an invoice was sent."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from nimbill_client.billing_groups import InvoiceSetting
from nimbill_client.connection import Call, Connection
from nimbill_client.invoice_document import Addressee, Issuer, Terms
from nimbill_client.record import BilledVendor, Record

INVOICE_PATH = "/m/core/invoices/{month}/{company_id}/{vendor}/credit-notes"
NOTE_PATH = "/m/core/credit-notes/{credit_note_id}"
MONTH_PATH = "/m/core/credit-notes/issued/{month}"


class ManualCredit(Record, frozen=True, kw_only=True):
    """An amount before tax, in the currency of the invoice."""

    description: str
    amount: Decimal
    tax_free: bool = False


class CreditedAmount(Record, frozen=True, kw_only=True):
    line: str | None
    description: str
    amount: Decimal
    tax_free: bool
    credit_note_no: str | None = None


class CreditedTax(Record, frozen=True, kw_only=True):
    """`tax_rate` is None for what is not subject to tax."""

    tax_rate: Decimal | None
    pre_tax: Decimal
    tax: Decimal


class ChangedTerm(Record, frozen=True, kw_only=True):
    field: str
    before: str | None
    after: str | None


class NoteCorrection(Record, frozen=True, kw_only=True):
    """`corrected` is the invoice that invoice and notes add up to."""

    import_id: str | None
    changed_terms: list[ChangedTerm]
    setting: InvoiceSetting
    terms: Terms
    corrected: list[CreditedTax]
    corrected_total: Decimal


class CreditNoteDocument(Record, frozen=True, kw_only=True):
    """`addressee` and `issuer` are those of the invoice."""

    form: int = 1
    credit_note_id: str
    credit_note_no: str
    kind: str
    reason: str
    issue_date: str
    language: str
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
    currency: str
    amounts: list[CreditedAmount]
    taxes: list[CreditedTax]
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    correction: NoteCorrection | None = None


class ShortCreditNote(Record, frozen=True, kw_only=True):
    credit_note_id: str
    credit_note_no: str
    kind: str
    reason: str
    issue_date: str
    invoice_no: str
    month: str
    company_id: str
    vendor: BilledVendor
    currency: str
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    create_time: str
    created_by: str


class CreditNotes:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def issue_in_full(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        reason: str,
        *,
        key: str | None = None,
    ) -> CreditNoteDocument:
        """Return everything that is left of a sent invoice."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        body = {"kind": "full", "reason": reason, "lines": None, "amounts": None, "terms": None}
        call = Call(method="POST", path=INVOICE_PATH, ids=ids, body=body, key=key)
        return self._connection.fetch(CreditNoteDocument, call)

    def issue_for_lines(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        lines: Sequence[str],
        reason: str,
        *,
        key: str | None = None,
    ) -> CreditNoteDocument:
        """Correct a sent invoice as if it did not have these lines, such as usage-1."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        content = {"lines": list(lines), "amounts": None, "terms": None}
        body = {"kind": "lines", "reason": reason, **content}
        call = Call(method="POST", path=INVOICE_PATH, ids=ids, body=body, key=key)
        return self._connection.fetch(CreditNoteDocument, call)

    def issue_by_hand(
        self,
        month: str,
        company_id: str,
        vendor: BilledVendor,
        amounts: Sequence[ManualCredit],
        reason: str,
        *,
        key: str | None = None,
    ) -> CreditNoteDocument:
        """Return amounts that are taxed at the rate of the invoice."""
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        content = {"lines": None, "amounts": list(amounts), "terms": None}
        body = {"kind": "manual", "reason": reason, **content}
        call = Call(method="POST", path=INVOICE_PATH, ids=ids, body=body, key=key)
        return self._connection.fetch(CreditNoteDocument, call)

    def list_of_invoice(
        self, month: str, company_id: str, vendor: BilledVendor
    ) -> list[ShortCreditNote]:
        ids = {"month": month, "company_id": company_id, "vendor": vendor}
        call = Call(method="GET", path=INVOICE_PATH, ids=ids)
        return self._connection.fetch(list[ShortCreditNote], call)

    def list_month(self, month: str) -> list[ShortCreditNote]:
        """List the notes that were issued in a month."""
        call = Call(method="GET", path=MONTH_PATH, ids={"month": month})
        return self._connection.fetch(list[ShortCreditNote], call)

    def read(self, credit_note_id: str) -> CreditNoteDocument:
        call = Call(method="GET", path=NOTE_PATH, ids={"credit_note_id": credit_note_id})
        return self._connection.fetch(CreditNoteDocument, call)

    def download_pdf(self, credit_note_id: str, file: Path) -> Path:
        ids = {"credit_note_id": credit_note_id}
        return self._connection.download(Call(method="GET", path=f"{NOTE_PATH}/pdf", ids=ids), file)

    def export_csv(self, month: str, file: Path) -> Path:
        """Write the notes that were issued in a month, one row for each note and tax rate."""
        call = Call(method="GET", path=f"{MONTH_PATH}/csv", ids={"month": month})
        return self._connection.download(call, file)
