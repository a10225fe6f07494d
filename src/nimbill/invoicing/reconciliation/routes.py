"""The tie-out over HTTP; paths are relative to /m/core."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import VENDORS, Vendor
from nimbill.http.routing import CallerOfRequest, MonthOfPath, Transaction, get
from nimbill.invoicing.reconciliation.bodies import TieOut
from nimbill.invoicing.reconciliation.records import tie_out_month


@get(
    "/invoices/tie-out/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    basis=chosen("tie-out"),
)
async def read_tie_out(
    month: MonthOfPath,
    caller: CallerOfRequest,
    db: Transaction,
    vendor: FromQuery[Vendor | None] = None,
) -> TieOut:
    """What the vendors charged beside what accounts for it, payer by payer; what differs."""
    vendors = list(VENDORS) if vendor is None else [vendor]
    return await tie_out_month(db, caller.scope, month, vendors)


ROUTES = [read_tie_out]
