"""Costs over HTTP; paths are relative to /m/core."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.costs.bodies import CostsOfMonth
from nimbill.costs.lake.grouping import grouping
from nimbill.costs.lake.sum_queries import costs_of_month
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import Vendor
from nimbill.http.routing import CallerOfRequest, Limit, MonthOfPath, Offset, Transaction, get


@get(
    "/costs/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadCost, RoleAction.ModifyCost],
    basis=chosen("read-costs"),
)
async def read_costs(
    month: MonthOfPath,
    caller: CallerOfRequest,
    db: Transaction,
    vendor: FromQuery[Vendor | None] = None,
    by: FromQuery[str] = "account",
    limit: Limit = None,
    offset: Offset = 0,
) -> CostsOfMonth:
    """What the vendors charged in a month: exact sums, per currency, by what is asked."""
    return await costs_of_month(
        db, caller.scope, month, vendor, grouping(by), limit=limit, offset=offset
    )


ROUTES = [read_costs]
