"""Recalculation entries over HTTP; paths are relative to /m/core."""

from litestar.params import FromQuery, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.adjustments.recalculation import operations, records
from nimbill.adjustments.recalculation.bodies import RecalculationApply, RecalculationRecord
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Success
from nimbill.http.routing import PathMonth, RequestCaller, Transaction, get, post


@get(
    "/billinggroup/recalculation/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup],
    basis=stated("Recalculation"),
)
async def list_recalculation(
    month: PathMonth, vendor: FromQuery[BilledVendor], caller: RequestCaller, db: Transaction
) -> list[RecalculationRecord]:
    """List the entries of a month and the entries applied to it."""
    return await records.list_recalculation(db, caller.scope, vendor, month)


@post(
    "/billinggroup/recalculation",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=chosen("recalculation-apply"),
    audited="recalculation/{vendor}/{month}",
    changes=Changes.billing_groups,
)
async def apply_recalculation(
    data: JSONBody[RecalculationApply], caller: RequestCaller, db: Transaction
) -> Success:
    """Apply entries to a month's invoices, or unapply them; all of them or none."""
    await operations.apply_recalculation(db, caller.scope, data)
    return Success()


ROUTES = [list_recalculation, apply_recalculation]
