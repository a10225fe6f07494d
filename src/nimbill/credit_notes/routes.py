"""Credit notes over HTTP; paths are relative to /m/core."""

import asyncio
from typing import Any

from litestar import Request, Response
from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.credit_notes import corrections, operations
from nimbill.credit_notes.bodies import (
    CorrectionPreview,
    CorrectionPreviewRequest,
    CreditNoteRequest,
    ShortCreditNote,
)
from nimbill.credit_notes.credit_note_csv import encode_credit_notes
from nimbill.credit_notes.document import CreditNoteDocument
from nimbill.credit_notes.printing import load_note_pdf
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.disconnection import run_until_disconnected
from nimbill.http.downloads import CSV_TYPE, build_csv_download
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, get, post
from nimbill.invoicing.pdf.printing import PDF, build_pdf_response, pause_for_printing

READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]


@post(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/credit-notes",
    status_code=201,
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("credit-notes"),
    audited="invoice/{month}/{company_id}/{vendor}",
    changes=Changes.billing_groups,
)
async def issue_credit_note(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[CreditNoteRequest],
    caller: RequestCaller,
    db: Transaction,
) -> CreditNoteDocument:
    """Issue a credit note for a sent invoice: in full, by line, by hand or by corrected terms."""
    period = BillingPeriod(month, vendor)
    if data.terms is not None:
        return await corrections.correct_invoice_terms(
            db, caller.scope, period, company_id, data.terms, reason=data.reason, by=caller.username
        )
    return await operations.issue_note(
        db, caller.scope, period, company_id, data, by=caller.username
    )


@post(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/correction-preview",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("corrections"),
    audited=Unaudited("nothing is stored"),
    changes=Changes.billing_groups,
)
async def preview_correction(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[CorrectionPreviewRequest],
    caller: RequestCaller,
    db: Transaction,
) -> CorrectionPreview:
    """Recalculate an invoice with late costs or corrected terms; store nothing.

    Whatever is not corrected is that of the stored invoice, also the exchange rate.
    """
    return await corrections.preview_correction(
        db, caller.scope, BillingPeriod(month, vendor), company_id, data
    )


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/credit-notes",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("credit-notes"),
)
async def list_credit_notes_of_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> list[ShortCreditNote]:
    """List the credit notes of an invoice, the oldest first."""
    return await operations.list_notes(db, caller.scope, BillingPeriod(month, vendor), company_id)


@get(
    "/credit-notes/issued/{month:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("credit-notes"),
)
async def list_credit_notes(
    month: PathMonth, caller: RequestCaller, db: Transaction
) -> list[ShortCreditNote]:
    """List the credit notes that were issued in a month, by number."""
    return await operations.list_notes_of_month(db, caller.scope, month)


@get(
    "/credit-notes/issued/{month:str}/csv",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("credit-notes"),
    media_type=CSV_TYPE,
)
async def download_credit_notes(
    month: PathMonth, caller: RequestCaller, db: Transaction
) -> Response[bytes]:
    """Download the same credit notes as CSV, one row for each note and tax rate."""
    notes = await operations.load_notes_of_month(db, caller.scope, month)
    content = await asyncio.to_thread(encode_credit_notes, notes)
    return build_csv_download(f"credit-notes-{month}.csv", content)


@get(
    "/credit-notes/{credit_note_id:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("credit-notes"),
)
async def read_credit_note(
    credit_note_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> CreditNoteDocument:
    """Read a credit note with its rows and the number of its invoice."""
    return await operations.load_note(db, caller.scope, credit_note_id)


@get(
    "/credit-notes/{credit_note_id:str}/pdf",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("credit-notes"),
    media_type=PDF,
)
async def print_credit_note(
    credit_note_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    request: Request[Any, Any, Any],
) -> Response[bytes]:
    """Return a credit note as PDF, in the language of its invoice."""
    note = await operations.load_note(db, caller.scope, credit_note_id)
    printer = await pause_for_printing(request)
    printing = load_note_pdf(printer, caller.scope, note)
    return build_pdf_response(*await run_until_disconnected(request, printing))


ROUTES = [
    issue_credit_note,
    preview_correction,
    list_credit_notes_of_invoice,
    list_credit_notes,
    download_credit_notes,
    read_credit_note,
    print_credit_note,
]
