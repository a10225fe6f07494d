"""Closing and reopening months over HTTP; paths are relative to /m/core."""

from typing import Any

from litestar.params import JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.costs.months import operations
from nimbill.costs.months.bodies import MonthClosing, MonthReopening
from nimbill.foundation.basis import chosen
from nimbill.http.request_bodies import Success
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, post

ROUTE_OPTIONS: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ModifyInvoice],
    "basis": chosen("closed-months"),
    "audited": "month/{vendor}/{month}",
    "changes": Changes.shared_records,
}


@post("/invoices/close/{month:str}", **ROUTE_OPTIONS)
async def close_month(
    month: PathMonth, data: JSONBody[MonthClosing], caller: RequestCaller, db: Transaction
) -> Success:
    """Close a month of a vendor: later imports, invoices and applied entries are refused."""
    await operations.close_month(db, caller.scope, month, data)
    return Success()


@post("/invoices/reopen/{month:str}", **ROUTE_OPTIONS)
async def reopen_month(
    month: PathMonth, data: JSONBody[MonthReopening], caller: RequestCaller, db: Transaction
) -> Success:
    """Open a closed month again; a reason is required."""
    await operations.reopen_month(db, caller.scope, month, data)
    return Success()


ROUTES = [close_month, reopen_month]
