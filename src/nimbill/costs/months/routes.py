"""Closing and reopening months over HTTP; paths are relative to /m/core."""

from typing import Any

from litestar.params import JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.costs.months import operations
from nimbill.costs.months.bodies import MonthClosing, MonthReopening
from nimbill.foundation.basis import chosen
from nimbill.http.request_bodies import Success
from nimbill.http.routing import CallerOfRequest, MonthOfPath, Transaction, post

DECLARED: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ModifyInvoice],
    "basis": chosen("closed-months"),
    "audited": "month/{vendor}/{month}",
}


@post("/invoices/close/{month:str}", **DECLARED)
async def close_month(
    month: MonthOfPath, data: JSONBody[MonthClosing], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Close a month of a vendor: no invoices, imports or applied entries any more."""
    await operations.close_month(db, caller.scope, month, data)
    return Success()


@post("/invoices/reopen/{month:str}", **DECLARED)
async def reopen_month(
    month: MonthOfPath, data: JSONBody[MonthReopening], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Open a closed month again, and say why."""
    await operations.reopen_month(db, caller.scope, month, data)
    return Success()


ROUTES = [close_month, reopen_month]
