"""Reopening months over HTTP; paths are relative to /m/core."""

from litestar.params import JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.costs.months import operations
from nimbill.costs.months.bodies import MonthReopening
from nimbill.foundation.basis import chosen
from nimbill.http.request_bodies import Success
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, post


@post(
    "/invoices/reopen/{month:str}",
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


ROUTES = [reopen_month]
