"""Costs over HTTP; paths are relative to /m/core."""

from typing import Any

from litestar import Request
from litestar.params import FromQuery
from msgspec import structs

from nimbill.access.gate import Audience
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import RoleAction
from nimbill.costs.bodies import MonthCosts
from nimbill.costs.lake.grouping import parse_grouping
from nimbill.costs.lake.line_queries import prepare_query, sum_lines
from nimbill.costs.lake.sum_queries import are_sums_stored, load_month_costs
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import Vendor
from nimbill.http.disconnection import run_until_disconnected
from nimbill.http.routing import (
    Limit,
    Offset,
    PathMonth,
    RequestCaller,
    Transaction,
    WorkerResources,
    get,
)


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
    resources: WorkerResources,
    request: Request[Any, Any, Any],
    vendor: FromQuery[Vendor | None] = None,
    by: FromQuery[str] = "account",
    limit: Limit = None,
    offset: Offset = 0,
) -> MonthCosts:
    """Read the vendor costs of a month: exact sums per currency, grouped by `by`."""
    grouping = parse_grouping(by)
    is_stored = await are_sums_stored(db, caller.scope, month, vendor, grouping)
    shown = grouping if is_stored else None
    costs = await load_month_costs(
        db, caller.scope, month, vendor, shown, limit=limit, offset=offset
    )
    if is_stored:
        return costs
    query = await prepare_query(db, caller.scope, month, vendor, grouping)
    await get_request_context(request.scope).pause()
    reading = sum_lines(resources.settings, query, limit=limit, offset=offset)
    return structs.replace(costs, rows=await run_until_disconnected(request, reading))


ROUTES = [read_costs]
