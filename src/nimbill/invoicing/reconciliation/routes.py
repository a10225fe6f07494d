"""The tie-out over HTTP; paths are relative to /m/core."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import VENDORS, Vendor
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, get
from nimbill.invoicing.reconciliation.bodies import TieOut
from nimbill.invoicing.reconciliation.records import load_tie_out


@get(
    "/invoices/tie-out/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    basis=chosen("tie-out"),
)
async def read_tie_out(
    month: PathMonth,
    caller: RequestCaller,
    db: Transaction,
    vendor: FromQuery[Vendor | None] = None,
) -> TieOut:
    """Compare the vendors' charges with invoices, entries and other uses, payer by payer."""
    vendors = list(VENDORS) if vendor is None else [vendor]
    return await load_tie_out(db, caller.scope, month, vendors)


ROUTES = [read_tie_out]
