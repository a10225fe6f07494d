"""Replacing an invoice over HTTP; paths are relative to /m/core."""

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.corrections.replacements import operations
from nimbill.corrections.replacements.bodies import ReplacementRequest
from nimbill.costs.months.closed_month import MonthChange
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, post
from nimbill.issuing.sending.operations import InvoiceStatus


@post(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/replacement",
    status_code=201,
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("replaced-invoices"),
    audited="invoice/{month}/{company_id}/{vendor}",
    changes=Changes.billing_groups,
    closed_month=MonthChange.replace_invoice,
)
async def replace_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[ReplacementRequest],
    caller: RequestCaller,
    db: Transaction,
) -> InvoiceStatus:
    """Replace a sent invoice of an open month by a new one, with a number of its own."""
    period = BillingPeriod(month, vendor)
    return await operations.replace_invoice(
        db, caller.scope, period, company_id, reason=data.reason, by=caller.username
    )


ROUTES = [replace_invoice]
