"""Months of invoices for tests of FOCUS files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import StoredInvoice
from nimbill.invoicing.focus.month_records import ClosingState, FocusMonth

CREATED = datetime(2026, 11, 15, 1, 2, 3, tzinfo=UTC)
UPDATED = datetime(2026, 11, 16, 1, 2, 3, tzinfo=UTC)
CLOSED = datetime(2026, 11, 17, 1, 2, 3, tzinfo=UTC)


def build_month(documents: Sequence[InvoiceDocument], *closed_vendors: str) -> FocusMonth:
    return FocusMonth(
        month="2026-10",
        organisation_name="Aozora Cloud Partners",
        files=[],
        costs={},
        states={vendor: ClosingState(closed=True, update_time=CLOSED) for vendor in closed_vendors},
        invoices=[
            StoredInvoice(
                company_id=document.company_id,
                vendor=document.vendor,
                invoice_no=document.invoice_no,
                document=document,
                create_time=CREATED,
                update_time=UPDATED,
            )
            for document in documents
        ],
    )
