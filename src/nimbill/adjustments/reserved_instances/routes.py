"""Reserved instances over HTTP; paths are relative to /m/core."""

from typing import Literal

from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.adjustments.reserved_instances import operations, records
from nimbill.adjustments.reserved_instances.bodies import (
    ReservedInstanceMove,
    ReservedInstanceRecord,
)
from nimbill.adjustments.reserved_instances.fee_records import load_currencies
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import stated
from nimbill.foundation.clock import now
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.list_parameters import ReportTotal, Search, WithDetails
from nimbill.http.request_bodies import Success
from nimbill.http.routing import Limit, Offset, RequestCaller, Transaction, get, post

ReservationSort = Literal[
    "customer_id",
    "-customer_id",
    "customer_name",
    "-customer_name",
    "billinggroup_name",
    "-billinggroup_name",
    "instance_type",
    "-instance_type",
    "start",
    "-start",
    "end",
    "-end",
]


@get(
    "/ri/purchased",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadRi, RoleAction.ModifyRi],
    basis=stated("Reserved-instance records"),
    counted=True,
)
async def list_reserved_instances(
    vendor: FromQuery[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[ReservationSort | None] = None,
    details: WithDetails = False,
) -> list[ReservedInstanceRecord]:
    """List the reservations of a vendor, each followed by its moved records.

    `limit`, `offset` and the total count reservations. `search` looks in id, arn, customer_id,
    customer_name, billinggroup_id, billinggroup_name, instance_type and region. `details` adds
    `currency`, `dest_customer_name` and `dest_company_id`.
    """
    query = ListQuery(limit, offset, search, sort)
    found, total = await records.list_reserved_instances(
        db,
        caller.scope,
        vendor,
        now(),
        query,
        load_currencies=load_currencies if details else None,
    )
    report_total(total)
    return found


@post(
    "/ri/purchased/{ri_id:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyRi],
    basis=stated("Reserved-instance records"),
    audited="ri/{ri_id}",
    changes=Changes.billing_groups,
)
async def move_reserved_instance(
    ri_id: FromPath[str],
    data: JSONBody[ReservedInstanceMove],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Move instances of a reservation, with their part of its fee, to another customer."""
    await operations.move_reserved_instance(db, caller.scope, ri_id, data)
    return Success()


@post(
    "/ri/purchased/{ri_id:str}/remove",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyRi],
    basis=stated("Reserved-instance records"),
    audited="ri/{ri_id}",
    changes=Changes.billing_groups,
)
async def remove_reserved_instance(
    ri_id: FromPath[str],
    vendor: FromQuery[Literal["aws"]],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Return the instances of a moved record to its original record."""
    await operations.remove_reserved_instance(db, caller.scope, ri_id, vendor)
    return Success()


ROUTES = [list_reserved_instances, move_reserved_instance, remove_reserved_instance]
