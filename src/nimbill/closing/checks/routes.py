"""The checks of a month over HTTP; paths are relative to /m/core."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.closing.checks import operations
from nimbill.closing.checks.bodies import CheckList, FindingCode
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import BilledVendor
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
    "/checks/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadInvoice, RoleAction.ModifyInvoice],
    basis=chosen("month-checks"),
)
async def list_findings(
    month: PathMonth,
    caller: RequestCaller,
    db: Transaction,
    vendor: FromQuery[BilledVendor | None] = None,
    code: FromQuery[FindingCode | None] = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> CheckList:
    """List what looks wrong in a month: changes, margins, missing customers and accounts."""
    return await operations.list_findings(
        db, caller.scope, month, vendor=vendor, code=code, page=select_page(limit, offset)
    )


ROUTES = [list_findings]
