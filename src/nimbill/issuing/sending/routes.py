"""The state of an invoice over HTTP; paths are relative to /m/core."""

from typing import Any

from litestar import Request
from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.disconnection import run_until_disconnected
from nimbill.http.routing import (
    PathMonth,
    RequestCaller,
    Transaction,
    describe_actor,
    get,
    put,
)
from nimbill.invoicing.pdf.pdf_cache import load_revision_pdf
from nimbill.invoicing.pdf.printing import pause_for_printing
from nimbill.issuing.sending import bulk_marking, operations
from nimbill.issuing.sending.bodies import (
    CancelledInvoiceRequest,
    InvoiceStatus,
    MarkedInvoices,
    MarkInvoicesRequest,
    SentInvoiceRequest,
)


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/state",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    basis=chosen("sent-invoices"),
)
async def read_invoice_state(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> InvoiceStatus:
    """Show whether an invoice was sent, when and by whom."""
    return await operations.load_status(db, caller.scope, BillingPeriod(month, vendor), company_id)


@put(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/sent",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("sent-invoices"),
    audited="invoice/{month}/{company_id}/{vendor}",
    changes=Changes.billing_groups,
)
async def mark_invoice_as_sent(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[SentInvoiceRequest],
    caller: RequestCaller,
    request: Request[Any, Any, Any],
) -> InvoiceStatus:
    """Mark the current revision as sent to the customer; it cannot be created again after that.

    Its PDF is stored before, so that it can be printed exactly as it was sent.
    """
    period = BillingPeriod(month, vendor)
    printer = await pause_for_printing(request)
    printing = load_revision_pdf(printer, caller.scope, period, company_id, data.revision)
    await run_until_disconnected(request, printing)
    resumed = await get_request_context(request.scope).resume(printer.engine)
    return await operations.mark_as_sent(
        resumed, caller.scope, period, company_id, revision=data.revision, by=caller.username
    )


@put(
    "/invoices/{month:str}/sent",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("sent-invoices"),
    audited=Unaudited("each invoice has its own audit entry"),
    changes=Changes.billing_groups,
)
async def mark_invoices_as_sent(
    month: PathMonth,
    data: JSONBody[MarkInvoicesRequest],
    caller: RequestCaller,
    db: Transaction,
    request: Request[Any, Any, Any],
) -> MarkedInvoices:
    """Mark invoices that reached the customers in another way than by mail, all of them or none.

    They cannot be created again after that. Nothing is mailed.
    """
    return await bulk_marking.mark_invoices(
        db,
        caller.scope,
        month,
        data,
        actor=describe_actor(request, caller),
        by=caller.username,
    )


@put(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/cancelled",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("cancelled-invoices"),
    audited="invoice/{month}/{company_id}/{vendor}",
    changes=Changes.billing_groups,
)
async def cancel_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[CancelledInvoiceRequest],
    caller: RequestCaller,
    db: Transaction,
) -> InvoiceStatus:
    """Cancel a sent invoice, which keeps its number; this cannot be undone."""
    period = BillingPeriod(month, vendor)
    return await operations.cancel(
        db, caller.scope, period, company_id, reason=data.reason, by=caller.username
    )


ROUTES = [read_invoice_state, mark_invoice_as_sent, mark_invoices_as_sent, cancel_invoice]
