"""Reseller accounts over HTTP; paths are relative to /m/core."""

from datetime import datetime
from zoneinfo import ZoneInfo

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.customers.organisation_settings.records import settings_of
from nimbill.customers.resellers import operations, records
from nimbill.customers.resellers.bodies import (
    ResellerChanged,
    ResellerCreate,
    ResellerMeta,
    ResellerPassword,
    ResellerRecord,
)
from nimbill.database.tenant_scope import Row
from nimbill.foundation.basis import chosen, stated
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    CallerOfRequest,
    ResourcesOfWorker,
    Transaction,
    delete,
    get,
    post,
    put,
)

READ = [RoleAction.ReadReseller, RoleAction.ModifyReseller]
MODIFY = [RoleAction.ModifyReseller]


@post(
    "/reseller",
    audiences=[Audience.core],
    role_actions=READ,
    role_actions_with_body=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}",
)
async def create_or_list_resellers(
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
    data: JSONBody[ResellerCreate | None] = None,
) -> ResellerChanged | list[ResellerRecord]:
    """Create a reseller account; without a body, list them, as specified."""
    if data is None:
        return await _records(caller, db)
    return await operations.create_reseller(db, caller.scope, resources, data)


@get(
    "/reseller",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("reseller-accounts"),
)
async def list_resellers(caller: CallerOfRequest, db: Transaction) -> list[ResellerRecord]:
    """The reseller accounts of the billing groups the caller may see."""
    return await _records(caller, db)


@delete(
    "/reseller/{user_id:str}",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}",
)
async def delete_reseller(
    user_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Delete a reseller account; its tokens end at once."""
    await operations.delete_reseller(db, caller.scope, user_id)
    return Success()


@put(
    "/reseller/{user_id:str}/password",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}/password",
)
async def change_reseller_password(
    user_id: FromPath[str],
    data: JSONBody[ResellerPassword],
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
) -> ResellerChanged:
    """Change the password; every token of the account ends at once."""
    return await operations.change_password(db, caller.scope, resources, user_id, data)


@put(
    "/reseller/{user_id:str}/meta",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=stated("Reseller accounts"),
    audited="reseller/{user_id}/meta",
)
async def update_reseller_meta(
    user_id: FromPath[str],
    data: JSONBody[ResellerMeta],
    caller: CallerOfRequest,
    db: Transaction,
) -> Success:
    """Change display flags; those not sent keep their value."""
    await operations.change_meta(db, caller.scope, user_id, data)
    return Success()


async def _records(caller: CallerOfRequest, db: Transaction) -> list[ResellerRecord]:
    zone = ZoneInfo((await settings_of(db, caller.scope)).time_zone)
    return [_record(row, zone) for row in await records.list_resellers(db, caller.scope)]


def _record(row: Row, zone: ZoneInfo) -> ResellerRecord:
    def moment(at: datetime | None) -> str | None:
        return None if at is None else at.astimezone(zone).isoformat(timespec="seconds")

    return ResellerRecord(
        user_id=row.user_id,
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        email=row.email,
        company_id=row.company_id,
        update_time=moment(row.update_time),
        password_update_time=moment(row.password_update_time),
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
