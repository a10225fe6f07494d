"""The months over HTTP: their steps, closing and reopening them; paths are relative to /m/core."""

from typing import Any

from litestar import Request
from litestar.params import FromQuery, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import RoleAction
from nimbill.closing.steps import operations
from nimbill.closing.steps.bodies import (
    MonthClosed,
    MonthClosing,
    MonthReopening,
    MonthStatus,
    OverriddenBlocker,
)
from nimbill.costs.months.closed_month import MonthChange
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Success
from nimbill.http.routing import Limit, Offset, PathMonth, RequestCaller, Transaction, get, post

READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
MONTHS_PER_PAGE = 12


@post(
    "/invoices/close/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("closed-months"),
    audited="month/{vendor}/{month}",
    changes=Changes.shared_records,
    closed_month=MonthChange.close,
)
async def close_month(
    month: PathMonth,
    data: JSONBody[MonthClosing],
    caller: RequestCaller,
    db: Transaction,
    request: Request[Any, Any, Any],
) -> MonthClosed:
    """Close a month of a vendor: later imports, invoices and applied entries are refused."""
    missing = await operations.close_month(db, caller.scope, month, data)
    if missing:
        context = get_request_context(request.scope)
        context.sent |= {"missing": [violation._asdict() for violation in missing]}
    return MonthClosed(
        overridden=[OverriddenBlocker(**violation._asdict()) for violation in missing]
    )


@post(
    "/invoices/reopen/{month:str}",
    tags=["Months"],  # generated clients name their modules after the tag
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyInvoice],
    basis=chosen("closed-months"),
    audited="month/{vendor}/{month}",
    changes=Changes.shared_records,
)
async def reopen_month(
    month: PathMonth, data: JSONBody[MonthReopening], caller: RequestCaller, db: Transaction
) -> Success:
    """Open a closed month again; a reason is required."""
    await operations.reopen_month(db, caller.scope, month, data)
    return Success()


@get(
    "/months",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("month-steps"),
)
async def list_months(
    caller: RequestCaller,
    db: Transaction,
    limit: Limit = MONTHS_PER_PAGE,
    offset: Offset = 0,
    steps: FromQuery[bool] = True,
) -> list[MonthStatus]:
    """List months, the newest first, with their state and steps; 12 unless `limit` is sent.

    With `steps=false` the list takes milliseconds: steps need the tie-out of each month.
    """
    if not steps:
        return await operations.list_month_states(db, caller.scope, limit=limit, offset=offset)
    return await operations.list_months(db, caller.scope, limit=limit, offset=offset)


@get(
    "/months/{month:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("month-steps"),
)
async def read_month(
    month: PathMonth, vendor: FromQuery[BilledVendor], caller: RequestCaller, db: Transaction
) -> MonthStatus:
    """Get the state of a month, its steps and what blocks each of them."""
    return await operations.load_month(db, caller.scope, month, vendor)


ROUTES = [close_month, reopen_month, list_months, read_month]
