"""Printed invoices over HTTP; paths are relative to /m/core."""

from typing import Annotated, Any

from litestar import Request, Response
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from litestar.response import Stream

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import RoleAction
from nimbill.customers.invoice_templates.operations import InvoiceTemplateBody
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.language import Language
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.disconnection import run_until_disconnected
from nimbill.http.routing import (
    PathMonth,
    PathRevision,
    RequestCaller,
    Transaction,
    WorkerResources,
    get,
    post,
)
from nimbill.http.temporary_files import send_written_file
from nimbill.invoicing.pdf import pdf_cache
from nimbill.invoicing.pdf.printing import PDF, build_pdf_response, pause_for_printing
from nimbill.invoicing.pdf.sample_invoice import build_sample_invoice

READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
ZIP = "application/zip"


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/pdf",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("printed-invoices"),
    media_type=PDF,
)
async def print_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    request: Request[Any, Any, Any],
) -> Response[bytes]:
    """Return an invoice as PDF, in the billing group's language."""
    printer = await pause_for_printing(request)
    printing = pdf_cache.load_invoice_pdf(printer, caller.scope, month, company_id, vendor)
    return build_pdf_response(*await run_until_disconnected(request, printing))


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/revisions/{revision:str}/pdf",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("printed-invoices"),
    media_type=PDF,
)
async def print_invoice_revision(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    revision: PathRevision,
    caller: RequestCaller,
    request: Request[Any, Any, Any],
) -> Response[bytes]:
    """Return one revision of an invoice as PDF, current or not."""
    printer = await pause_for_printing(request)
    printing = pdf_cache.load_revision_pdf(
        printer, caller.scope, BillingPeriod(month, vendor), company_id, int(revision)
    )
    return build_pdf_response(*await run_until_disconnected(request, printing))


@get(
    "/invoices/{month:str}/{company_id:str}/pdf",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("printed-invoices"),
    media_type=PDF,
)
async def print_covering_page(
    month: PathMonth,
    company_id: FromPath[str],
    caller: RequestCaller,
    request: Request[Any, Any, Any],
) -> Response[bytes]:
    """Return the vendors' invoices of a group with a cover page, if inv_aggregate is true."""
    printer = await pause_for_printing(request)
    printing = pdf_cache.load_cover_pdf(printer, caller.scope, month, company_id)
    return build_pdf_response(*await run_until_disconnected(request, printing))


@get(
    "/invoices/{month:str}/zip",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("printed-invoices"),
    media_type=ZIP,
)
async def print_month(
    month: PathMonth,
    caller: RequestCaller,
    resources: WorkerResources,
    request: Request[Any, Any, Any],
    vendor: Annotated[BilledVendor | None, QueryParameter()] = None,
) -> Stream:
    """Return all invoices of a month, or those of one vendor, as a zip archive."""
    printer = await pause_for_printing(request)
    return await send_written_file(
        request,
        resources.settings.data,
        lambda file: pdf_cache.write_zip(printer, caller.scope, month, vendor, file),
        name=f"invoices-{month}.zip",
        media_type=ZIP,
    )


@post(
    "/invoicetemplate/preview",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=chosen("template-preview"),
    audited=Unaudited("nothing is stored"),
    changes=Changes.billing_groups,
    media_type=PDF,
)
async def preview_invoice_template(
    data: JSONBody[InvoiceTemplateBody],
    caller: RequestCaller,
    db: Transaction,
    request: Request[Any, Any, Any],
    language: FromQuery[Language | None] = None,
) -> Response[bytes]:
    """Return a sample invoice with this template as PDF; store nothing.

    Customer and amounts are invented, and every page is marked as a sample. Without `language` it
    is in the language of the organisation.
    """
    settings = await load_settings(db, caller.scope)
    document = build_sample_invoice(data, settings, language or settings.language, clock.now())
    printer = await pause_for_printing(request)
    content = await run_until_disconnected(request, printer.print_sample(caller.scope, document))
    await get_request_context(request.scope).resume(printer.engine)
    return build_pdf_response("sample.pdf", content)


ROUTES = [
    print_invoice,
    print_invoice_revision,
    print_covering_page,
    print_month,
    preview_invoice_template,
]
