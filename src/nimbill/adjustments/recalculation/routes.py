"""Recalculation entries over HTTP; paths are relative to /m/core."""

from typing import Literal

from litestar.params import FromQuery, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.adjustments.recalculation import operations, records
from nimbill.adjustments.recalculation.bodies import RecalculationApply, RecalculationRecord
from nimbill.costs.months.closed_month import MonthChange
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.list_parameters import ReportTotal, Search, WithDetails
from nimbill.http.request_bodies import Success
from nimbill.http.routing import Limit, Offset, PathMonth, RequestCaller, Transaction, get, post

EntrySort = Literal[
    "customer_id",
    "-customer_id",
    "customer_name",
    "-customer_name",
    "billinggroup_name",
    "-billinggroup_name",
    "calc_type",
    "-calc_type",
    "unblended_cost",
    "-unblended_cost",
    "usage_start",
    "-usage_start",
]


@get(
    "/billinggroup/recalculation/{month:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup],
    basis=stated("Recalculation"),
    counted=True,
)
async def list_recalculation(
    month: PathMonth,
    vendor: FromQuery[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[EntrySort | None] = None,
    applied: FromQuery[bool | None] = None,
    details: WithDetails = False,
) -> list[RecalculationRecord]:
    """List the entries of a month and the entries applied to it; `applied` selects some of them.

    `search` looks in id, customer_id, customer_name, billinggroup_id, billinggroup_name,
    description and product_name. `details` adds `applied_month`.
    """
    query = ListQuery(limit, offset, search, sort)
    entries, total = await records.list_recalculation(
        db, caller.scope, vendor, month, query, applied=applied, details=details
    )
    report_total(total)
    return entries


@post(
    "/billinggroup/recalculation",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=chosen("recalculation-apply"),
    audited="recalculation/{vendor}/{month}",
    changes=Changes.billing_groups,
    closed_month=MonthChange.change_entries,
)
async def apply_recalculation(
    data: JSONBody[RecalculationApply], caller: RequestCaller, db: Transaction
) -> Success:
    """Apply entries to a month's invoices, or unapply them; all of them or none."""
    await operations.apply_recalculation(db, caller.scope, data)
    return Success()


ROUTES = [list_recalculation, apply_recalculation]
