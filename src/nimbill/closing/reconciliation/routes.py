"""The tie-out over HTTP; paths are relative to /m/core."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.closing.reconciliation.bodies import TieOut
from nimbill.closing.reconciliation.records import load_tie_out
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendor_names import list_readable_vendors
from nimbill.foundation.vendors import Vendor
from nimbill.http.routing import (
    Limit,
    Offset,
    PathMonth,
    RequestCaller,
    Transaction,
    get,
    select_page,
)


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
    limit: Limit = None,
    offset: Offset = 0,
) -> TieOut:
    """Compare the vendors' charges with invoices, entries and other uses, payer by payer.

    `limit` and `offset` select rows of each list except that of the payers; `counts` counts all.
    """
    vendors = [vendor] if vendor else list_readable_vendors(await load_vendors(db, caller.scope))
    page = select_page(limit, offset)
    return await load_tie_out(db, caller.scope, month, vendors, page, from_data=False)


ROUTES = [read_tie_out]
