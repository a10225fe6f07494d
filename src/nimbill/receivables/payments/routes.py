"""Payments over HTTP; paths are relative to /m/core."""

from typing import Annotated, Any, Literal

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.database.list_query import ListQuery
from nimbill.foundation import calendar_date
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.csv_bodies import CSV_BYTES_MAX, read_csv_request
from nimbill.http.downloads import CSV_TYPE
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.routing import (
    Limit,
    Offset,
    PathMonth,
    RequestCaller,
    Transaction,
    describe_actor,
    get,
    post,
    put,
)
from nimbill.receivables.payments import csv_import, operations
from nimbill.receivables.payments.bodies import (
    InvoicePayments,
    Payment,
    PaymentRequest,
    PaymentsRecorded,
    Receivable,
    ReceivableTotal,
    ReversedPaymentRequest,
)
from nimbill.receivables.payments.payment_rules import BalanceFilter
from nimbill.receivables.payments.records import PaymentFilter, ReceivableFilter

PaymentSort = Literal[
    "paid_on",
    "-paid_on",
    "invoice_no",
    "-invoice_no",
    "billinggroup_name",
    "-billinggroup_name",
    "amount",
    "-amount",
    "create_time",
    "-create_time",
]
ReceivableSort = Literal[
    "due_date",
    "-due_date",
    "invoice_no",
    "-invoice_no",
    "billinggroup_name",
    "-billinggroup_name",
    "total",
    "-total",
    "open_balance",
    "-open_balance",
]
READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
WithBalance = Annotated[
    BalanceFilter,
    QueryParameter(description="open lists balances that are not 0, settled those that are 0"),
]
DATE_PARAMETER = {"pattern": calendar_date.PATTERN, "description": calendar_date.RULE}


@post(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/payments",
    status_code=201,
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("payments"),
    audited="invoice/{month}/{company_id}/{vendor}/payments/{payment_id}",
    changes=Changes.billing_groups,
)
async def record_payment(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[PaymentRequest],
    caller: RequestCaller,
    db: Transaction,
) -> Payment:
    """Record a payment of a sent invoice, in its currency."""
    return await operations.record_payment(
        db, caller.scope, BillingPeriod(month, vendor), company_id, data, by=caller.username
    )


@put(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/payments/{payment_id:str}/reversed",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("payments"),
    audited="invoice/{month}/{company_id}/{vendor}/payments/{payment_id}",
    changes=Changes.billing_groups,
)
async def reverse_payment(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    payment_id: FromPath[str],
    data: JSONBody[ReversedPaymentRequest],
    caller: RequestCaller,
    db: Transaction,
) -> Payment:
    """Take a payment back, which stays in the list; this cannot be undone."""
    return await operations.reverse_payment(
        db,
        caller.scope,
        BillingPeriod(month, vendor),
        company_id,
        payment_id,
        reason=data.reason,
        by=caller.username,
    )


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/payments",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("payments"),
)
async def list_payments_of_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> InvoicePayments:
    """List the payments of an invoice by date, with its open balance."""
    period = BillingPeriod(month, vendor)
    return await operations.load_invoice_payments(db, caller.scope, period, company_id)


@post(
    "/payments/csv",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("payments"),
    changes=Changes.billing_groups,
    audited=Unaudited("each recorded payment has its own audit entry"),
    reads={CSV_TYPE: str},
    request_max_body_size=CSV_BYTES_MAX,
)
async def record_payments_from_csv(
    request: Request[Any, Any, Any], caller: RequestCaller, db: Transaction
) -> PaymentsRecorded:
    """Record payments from a CSV file: all of its lines, or none."""
    content = await read_csv_request(request)
    created = await csv_import.record_payments_from_csv(
        db,
        caller.scope,
        content,
        actor=describe_actor(request, caller),
        by=caller.username,
    )
    return PaymentsRecorded(created=created)


@get(
    "/payments",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("payments"),
    counted=True,
)
async def list_payments(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    first_day: Annotated[str | None, QueryParameter(name="from", **DATE_PARAMETER)] = None,
    last_day: Annotated[str | None, QueryParameter(name="to", **DATE_PARAMETER)] = None,
    company_id: FromQuery[str | None] = None,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[PaymentSort | None] = None,
) -> list[Payment]:
    """List payments by date, also those that were reversed; `from` and `to` are included.

    `search` looks in the number of the invoice, company_id, billinggroup_name and note.
    """
    selected = PaymentFilter(first_day=first_day, last_day=last_day, company_id=company_id)
    query = ListQuery(limit, offset, search, sort)
    payments, total = await operations.list_payments(db, caller.scope, selected, query)
    report_total(total)
    return payments


@get(
    "/receivables",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("payments"),
    counted=True,
)
async def list_receivables(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    balance: WithBalance = BalanceFilter.open,
    company_id: FromQuery[str | None] = None,
    vendor: FromQuery[BilledVendor | None] = None,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[ReceivableSort | None] = None,
) -> list[Receivable]:
    """List sent invoices by due date; those whose open balance is not 0, unless `balance` is sent.

    `search` looks in the number of the invoice, company_id and billinggroup_name.
    """
    today = await operations.load_today(db, caller.scope)
    selected = ReceivableFilter(today=today, balance=balance, company_id=company_id, vendor=vendor)
    query = ListQuery(limit, offset, search, sort)
    receivables, total = await operations.list_receivables(db, caller.scope, selected, query)
    report_total(total)
    return receivables


@get(
    "/receivables/totals",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("payments"),
)
async def sum_receivables(
    caller: RequestCaller,
    db: Transaction,
    balance: WithBalance = BalanceFilter.open,
    company_id: FromQuery[str | None] = None,
    vendor: FromQuery[BilledVendor | None] = None,
    search: Search = None,
) -> list[ReceivableTotal]:
    """Add up the sent invoices that the list of receivables contains, by currency."""
    today = await operations.load_today(db, caller.scope)
    selected = ReceivableFilter(today=today, balance=balance, company_id=company_id, vendor=vendor)
    return await operations.sum_receivables(db, caller.scope, selected, search)


ROUTES = [
    record_payment,
    reverse_payment,
    list_payments_of_invoice,
    record_payments_from_csv,
    list_payments,
    list_receivables,
    sum_receivables,
]
