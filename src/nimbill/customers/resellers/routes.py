"""HTTP routes of reseller accounts; paths are relative to /m/core."""

from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.customers.resellers import operations, records
from nimbill.customers.resellers.bodies import (
    ResellerChanged,
    ResellerCreate,
    ResellerMeta,
    ResellerPassword,
    ResellerRecord,
)
from nimbill.database.list_query import COMPLETE, ListQuery
from nimbill.database.tenant_scope import Row
from nimbill.foundation.basis import chosen, stated
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    WorkerResources,
    delete,
    get,
    post,
    put,
)

ResellerSort = Literal[
    "email",
    "-email",
    "billinggroup_id",
    "-billinggroup_id",
    "billinggroup_name",
    "-billinggroup_name",
    "portal_registered",
    "-portal_registered",
]
READ = [RoleAction.ReadReseller, RoleAction.ModifyReseller]
MODIFY = [RoleAction.ModifyReseller]


@post(
    "/reseller",
    audiences=[Audience.core],
    role_actions=READ,
    role_actions_with_body=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}",
    changes=Changes.billing_groups,
)
async def create_or_list_resellers(
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    data: JSONBody[ResellerCreate | None] = None,
) -> ResellerChanged | list[ResellerRecord]:
    """Create a reseller account. Without a body, list the accounts, as specified."""
    if data is None:
        accounts, _ = await _list_records(caller, db, COMPLETE)
        return accounts
    return await operations.create_reseller(db, caller.scope, resources, data)


@get(
    "/reseller",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("reseller-accounts"),
    counted=True,
)
async def list_resellers(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[ResellerSort | None] = None,
) -> list[ResellerRecord]:
    """List the reseller accounts of the billing groups that the caller may see, oldest first.

    `search` looks in user_id, email, company_id, billinggroup_id and billinggroup_name.
    """
    query = ListQuery(limit, offset, search, sort)
    accounts, total = await _list_records(caller, db, query)
    report_total(total)
    return accounts


@delete(
    "/reseller/{user_id:str}",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}",
    changes=Changes.billing_groups,
)
async def delete_reseller(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete a reseller account and revoke its tokens."""
    await operations.delete_reseller(db, caller.scope, user_id)
    return Success()


@put(
    "/reseller/{user_id:str}/password",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}/password",
    changes=Changes.billing_groups,
)
async def change_reseller_password(
    user_id: FromPath[str],
    data: JSONBody[ResellerPassword],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> ResellerChanged:
    """Change the password and revoke every token of the account."""
    return await operations.change_password(db, caller.scope, resources, user_id, data)


@put(
    "/reseller/{user_id:str}/meta",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}/meta",
    changes=Changes.billing_groups,
)
async def update_reseller_meta(
    user_id: FromPath[str],
    data: JSONBody[ResellerMeta],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Change display flags. Flags that are not sent keep their value."""
    await operations.change_meta(db, caller.scope, user_id, data)
    return Success()


async def _list_records(
    caller: RequestCaller, db: Transaction, query: ListQuery
) -> tuple[list[ResellerRecord], int]:
    zone = ZoneInfo((await load_settings(db, caller.scope)).time_zone)
    rows, total = await records.list_resellers(db, caller.scope, query)
    return [_build_record(row, zone) for row in rows], total


def _build_record(row: Row, zone: ZoneInfo) -> ResellerRecord:
    def format_time(time: datetime | None) -> str | None:
        return None if time is None else time.astimezone(zone).isoformat(timespec="seconds")

    return ResellerRecord(
        user_id=row.user_id,
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        email=row.email,
        company_id=row.company_id,
        update_time=format_time(row.update_time),
        password_update_time=format_time(row.password_update_time),
        portal_registered=row.portal_registered.astimezone(zone).isoformat(timespec="seconds"),
        meta=row.meta,
    )


ROUTES = [
    create_or_list_resellers,
    list_resellers,
    delete_reseller,
    change_reseller_password,
    update_reseller_meta,
]
