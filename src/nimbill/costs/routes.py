"""Costs over HTTP; paths are relative to /m/core."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.costs.bodies import MonthCosts
from nimbill.costs.lake.grouping import parse_grouping
from nimbill.costs.lake.sum_queries import load_month_costs
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import Vendor
from nimbill.http.routing import Limit, Offset, PathMonth, RequestCaller, Transaction, get


@get(
    "/costs/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadCost, RoleAction.ModifyCost],
    basis=chosen("read-costs"),
)
async def read_costs(
    month: PathMonth,
    caller: RequestCaller,
    db: Transaction,
    vendor: FromQuery[Vendor | None] = None,
    by: FromQuery[str] = "account",
    limit: Limit = None,
    offset: Offset = 0,
) -> MonthCosts:
    """Read the vendor costs of a month: exact sums per currency, grouped by `by`."""
    return await load_month_costs(
        db, caller.scope, month, vendor, parse_grouping(by), limit=limit, offset=offset
    )


ROUTES = [read_costs]
