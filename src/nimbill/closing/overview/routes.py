"""The short invoice list and the comparison over HTTP; paths are relative to /m/core."""

from typing import Annotated, Literal

from litestar.params import FromPath, FromQuery, QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.closing.overview import operations
from nimbill.closing.overview.bodies import InvoiceComparison, MonthSummary, RevisionComparison
from nimbill.foundation import calendar_month
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.routing import (
    REVISION_MAX,
    Limit,
    Offset,
    PathMonth,
    PathRevision,
    RequestCaller,
    Transaction,
    get,
)

READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
SummarySort = Literal[
    "billinggroup_id",
    "-billinggroup_id",
    "billinggroup_name",
    "-billinggroup_name",
    "invoice_no",
    "-invoice_no",
    "pre_tax",
    "-pre_tax",
    "total",
    "-total",
    "change",
    "-change",
    "change_rate",
    "-change_rate",
    "create_time",
    "-create_time",
]
SearchText = Annotated[
    str | None,
    QueryParameter(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00]*$",
        description="a text of 1 to 200 characters, in any letter case",
    ),
]
EarlierMonth = Annotated[
    str | None,
    QueryParameter(
        min_length=calendar_month.LENGTH,
        max_length=calendar_month.LENGTH,
        pattern=calendar_month.PATTERN,
        description="a month as yyyy-mm; the month before if it is absent",
    ),
]
EarlierRevision = Annotated[
    int | None,
    QueryParameter(
        ge=1,
        le=REVISION_MAX,
        description=f"a whole number from 1 to {REVISION_MAX}; the revision before if it is absent",
    ),
]


@get(
    "/invoices/{month:str}/summary",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-summary"),
)
async def summarize_invoices(
    month: PathMonth,
    vendor: FromQuery[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    limit: Limit = None,
    offset: Offset = 0,
    search: SearchText = None,
    sort: FromQuery[SummarySort] = "billinggroup_id",
    invoiced: FromQuery[bool | None] = None,
) -> MonthSummary:
    """List the billing groups of a vendor with the amounts of their invoices, and the totals.

    `search` looks in invoice_no, billinggroup_id, billinggroup_name, company_name and company_id.
    """
    return await operations.load_summary(
        db,
        caller.scope,
        BillingPeriod(month, vendor),
        search=search,
        invoiced=invoiced,
        sort=sort,
        limit=limit,
        offset=offset,
    )


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/comparison",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("invoice-comparison"),
)
async def compare_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    before: EarlierMonth = None,
) -> InvoiceComparison:
    """Compare an invoice with that of the month before: causes of the change, and each amount."""
    return await operations.compare_with_month(
        db,
        caller.scope,
        BillingPeriod(month, vendor),
        company_id,
        before or calendar_month.add_months(month, -1),
    )


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/revisions/{revision:str}/comparison",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("revision-comparison"),
)
async def compare_invoice_revision(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    revision: PathRevision,
    caller: RequestCaller,
    db: Transaction,
    before: EarlierRevision = None,
) -> RevisionComparison:
    """Compare two revisions of an invoice: lines added, removed, changed, totals by tax rate."""
    return await operations.compare_with_revision(
        db,
        caller.scope,
        BillingPeriod(month, vendor),
        company_id,
        int(revision),
        int(revision) - 1 if before is None else before,
    )


ROUTES = [summarize_invoices, compare_invoice, compare_invoice_revision]
