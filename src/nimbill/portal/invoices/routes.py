"""HTTP routes of the customer's invoices; paths are relative to /m/portal."""

import asyncio
from typing import Any

from litestar import Request, Response
from litestar.params import FromPath

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.foundation.language import Language
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.disconnection import run_until_disconnected
from nimbill.http.downloads import CSV_TYPE, build_csv_download
from nimbill.http.routing import Limit, Offset, PathMonth, RequestCaller, Transaction, get
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf.pdf_cache import load_document_pdf
from nimbill.invoicing.pdf.printing import PDF, build_pdf_response, pause_for_printing
from nimbill.portal.csv_headings import HeadingLanguage
from nimbill.portal.invoices import operations
from nimbill.portal.invoices.bodies import CustomerInvoice, CustomerInvoiceHead
from nimbill.portal.invoices.invoice_csv import (
    EncodeInvoice,
    encode_discount_csv,
    encode_merged_csv,
)
from nimbill.portal.report_parameters import CompanyId, OneCompanyId


@get(
    "/invoices",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadInvoice],
    flag="invoice",
    basis=chosen("portal-invoices"),
)
async def list_customer_invoices(
    caller: RequestCaller,
    db: Transaction,
    company_id: CompanyId = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> list[CustomerInvoiceHead]:
    """List the invoices with their dates and totals, the newest month first."""
    return await operations.list_heads(db, caller, company_id, limit=limit, offset=offset)


@get(
    "/invoices/{month:str}/{vendor:str}",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadInvoice],
    flag="invoice",
    basis=chosen("portal-invoices"),
)
async def read_customer_invoice(
    month: PathMonth,
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    company_id: OneCompanyId = None,
) -> CustomerInvoice:
    """Show an invoice as it is printed."""
    return await operations.load_shown_invoice(db, caller, company_id, month, vendor)


@get(
    "/invoices/{month:str}/{vendor:str}/pdf",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadInvoice],
    flag="invoice",
    basis=chosen("portal-invoices"),
    media_type=PDF,
)
async def print_customer_invoice(
    month: PathMonth,
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    request: Request[Any, Any, Any],
    company_id: OneCompanyId = None,
) -> Response[bytes]:
    """Return an invoice as PDF."""
    scope, _ = await operations.require_one_company(db, caller, company_id)
    document = await operations.load_invoice(db, caller, company_id, month, vendor)
    printer = await pause_for_printing(request)
    printing = load_document_pdf(printer, scope, document)
    return build_pdf_response(*await run_until_disconnected(request, printing))


@get(
    "/invoices/{month:str}/{vendor:str}/csv/discount",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadInvoice],
    flag="invoice_download_csv_discount",
    basis=chosen("portal-invoices"),
    media_type=CSV_TYPE,
)
async def download_discount_csv(
    month: PathMonth,
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    company_id: OneCompanyId = None,
    language: HeadingLanguage = None,
) -> Response[bytes]:
    """Download the lines of an invoice before and after the discount as CSV."""
    document = await operations.load_invoice(db, caller, company_id, month, vendor)
    return await _build_csv_response(document, encode_discount_csv, "discount", language)


@get(
    "/invoices/{month:str}/{vendor:str}/csv/merged",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadInvoice],
    flag="invoice_download_csv_merged",
    basis=chosen("portal-invoices"),
    media_type=CSV_TYPE,
)
async def download_merged_csv(
    month: PathMonth,
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    company_id: OneCompanyId = None,
    language: HeadingLanguage = None,
) -> Response[bytes]:
    """Download the lines of an invoice, added up over all accounts, as CSV."""
    document = await operations.load_invoice(db, caller, company_id, month, vendor)
    return await _build_csv_response(document, encode_merged_csv, "merged", language)


async def _build_csv_response(
    document: InvoiceDocument, encode: EncodeInvoice, kind: str, language: Language | None
) -> Response[bytes]:
    # encoding a large invoice would block the event loop
    content = await asyncio.to_thread(encode, document, language)
    name = f"{document.invoice_no}-{document.vendor}-{kind}.csv"
    return build_csv_download(name, content)


ROUTES = [
    list_customer_invoices,
    read_customer_invoice,
    print_customer_invoice,
    download_discount_csv,
    download_merged_csv,
]
