"""The explanation of an invoice over HTTP; paths are relative to /m/core."""

from typing import Annotated

from litestar.params import FromPath, QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, get
from nimbill.invoicing.explanation import operations
from nimbill.invoicing.explanation.bodies import InvoiceExplanation

Line = Annotated[
    str | None,
    QueryParameter(max_length=40, description="a line of the invoice, such as usage-1 or total"),
]


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/explanation",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    basis=chosen("invoice-explanation"),
)
async def explain_invoice(
    month: PathMonth,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    line: Line = None,
) -> InvoiceExplanation:
    """Explain each amount of an invoice; with `line` one amount with the parts of its base.

    The parts add up to the base exactly. Usage has a part for each day, if the stored costs are
    still those that were invoiced.
    """
    period = BillingPeriod(month, vendor)
    return await operations.explain_invoice(db, caller.scope, period, company_id, line)


ROUTES = [explain_invoice]
