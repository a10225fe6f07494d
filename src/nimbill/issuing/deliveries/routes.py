"""Mailing invoices over HTTP; paths are relative to /m/core."""

from typing import Annotated, Any, Literal

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.routing import (
    Limit,
    Offset,
    PathMonth,
    RequestCaller,
    Transaction,
    WorkerResources,
    describe_actor,
    get,
    post,
    put,
)
from nimbill.issuing.deliveries import operations, records, shown_deliveries
from nimbill.issuing.deliveries.bodies import (
    DeliveryState,
    InvoiceDelivery,
    PublicationRequest,
    SendingPreview,
    SendInvoicesRequest,
    SentInvoices,
)
from nimbill.issuing.sending.operations import InvoiceStatus

DeliverySort = Literal[
    "invoice_no",
    "-invoice_no",
    "billinggroup_name",
    "-billinggroup_name",
    "state",
    "-state",
    "create_time",
    "-create_time",
    "update_time",
    "-update_time",
]
READ: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    "basis": chosen("mailed-invoices"),
}
SEND: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ModifyInvoice],
    "basis": chosen("mailed-invoices"),
    "changes": Changes.billing_groups,
}


@post("/invoices/{month:str}/deliveries/preview", **SEND, audited=Unaudited("nothing is stored"))
async def preview_sending(
    month: PathMonth,
    data: JSONBody[SendInvoicesRequest],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> SendingPreview:
    """Show the mails that would be sent: recipients, texts, and what keeps an invoice back."""
    return await operations.preview_sending(db, caller.scope, resources.settings, month, data)


@post(
    "/invoices/{month:str}/deliveries",
    **SEND,
    audited=Unaudited("each invoice has its own audit entry"),
)
async def send_invoices(
    month: PathMonth,
    data: JSONBody[SendInvoicesRequest],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    request: Request[Any, Any, Any],
) -> SentInvoices:
    """Mark invoices as sent and mail them to the customers, with the PDF or a link to the portal.

    Those of these groups, or all of the month that have no problem.
    """
    return await operations.send_invoices(
        db,
        caller.scope,
        resources.settings,
        month,
        data,
        actor=describe_actor(request, caller),
        by=caller.username,
    )


@get("/invoices/{month:str}/deliveries", **READ, counted=True)
async def list_deliveries(
    month: PathMonth,
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    vendor: FromQuery[BilledVendor | None] = None,
    company_id: FromQuery[str | None] = None,
    delivery_state: Annotated[DeliveryState | None, QueryParameter(name="state")] = None,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[DeliverySort | None] = None,
) -> list[InvoiceDelivery]:
    """List the mails with invoices of a month and what became of them, the newest first.

    `search` looks in invoice_no, billinggroup_name, company_id and the recipients.
    """
    selected = records.DeliveryFilter(vendor=vendor, company_id=company_id, state=delivery_state)
    query = ListQuery(limit, offset, search, sort)
    rows, total = await records.list_deliveries(db, caller.scope, month, selected, query)
    report_total(total)
    return [shown_deliveries.show_delivery(row) for row in rows]


@get("/invoices/{month:str}/{company_id:str}/{vendor:str}/deliveries", **READ)
async def list_deliveries_of_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> list[InvoiceDelivery]:
    """List the mails with one invoice and what became of them, the newest first."""
    period = BillingPeriod(month, vendor)
    return await shown_deliveries.list_deliveries_of_invoice(db, caller.scope, period, company_id)


@post(
    "/deliveries/{delivery_id:str}/retry",
    **SEND,
    audited="invoice/{month}/{company_id}/{vendor}",
)
async def retry_delivery(
    delivery_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> InvoiceDelivery:
    """Send a mail again that failed or whose outcome is unknown, with the same Message-ID."""
    return await operations.retry_delivery(db, caller.scope, resources.settings, delivery_id)


@put(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/publication",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("published-invoices"),
    audited="invoice/{month}/{company_id}/{vendor}",
    changes=Changes.billing_groups,
)
async def publish_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[PublicationRequest],
    caller: RequestCaller,
    db: Transaction,
) -> InvoiceStatus:
    """Choose from when customers see a sent invoice in the portal."""
    period = BillingPeriod(month, vendor)
    return await operations.publish_invoice(db, caller.scope, period, company_id, data.publish_time)


ROUTES = [
    preview_sending,
    send_invoices,
    list_deliveries,
    list_deliveries_of_invoice,
    retry_delivery,
    publish_invoice,
]
