"""Credit notes: what is returned to a customer after an invoice was sent."""

from collections.abc import Sequence
from pathlib import Path

from nimbill_client.bodies import CreditNoteDocument, ManualCredit, ShortCreditNote
from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor

INVOICE_PATH = "/m/core/invoices/{month}/{company_id}/{vendor}/credit-notes"
NOTE_PATH = "/m/core/credit-notes/{credit_note_id}"
MONTH_PATH = "/m/core/credit-notes/issued/{month}"


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
