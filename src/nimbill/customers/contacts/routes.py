"""HTTP routes of contacts; paths are relative to /m/core."""

from typing import Any

from litestar import Request
from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.customers.contacts import csv_import, operations
from nimbill.customers.contacts.bodies import Contact, ContactBody, ContactsCreated
from nimbill.foundation.basis import chosen
from nimbill.http.csv_bodies import CSV_BYTES_MAX, read_csv_request
from nimbill.http.downloads import CSV_TYPE
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    RequestCaller,
    Transaction,
    delete,
    describe_actor,
    get,
    post,
    put,
)

MODIFY: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ModifyBillingGroup],
    "basis": chosen("contacts"),
    "changes": Changes.billing_groups,
    "audited": "billinggroup/{company_id}/contacts/{contact_id}",
}


@get(
    "/billinggroup/{company_id:str}/contacts",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup],
    basis=chosen("contacts"),
)
async def list_contacts(
    company_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> list[Contact]:
    """List the contacts of a billing group, recipients of `to` before those of `cc`."""
    return await operations.list_contacts(db, caller.scope, company_id)


@post("/billinggroup/{company_id:str}/contacts", **MODIFY, status_code=201)
async def create_contact(
    company_id: FromPath[str],
    data: JSONBody[ContactBody],
    caller: RequestCaller,
    db: Transaction,
) -> Contact:
    """Add a contact to a billing group, which has at most 20."""
    return await operations.create_contact(db, caller.scope, company_id, data)


@post(
    "/billinggroup/contacts/csv",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=chosen("csv-imports"),
    changes=Changes.billing_groups,
    audited=Unaudited("each created contact has its own audit entry"),
    reads={CSV_TYPE: str},
    request_max_body_size=CSV_BYTES_MAX,
)
async def create_contacts_from_csv(
    request: Request[Any, Any, Any], caller: RequestCaller, db: Transaction
) -> ContactsCreated:
    """Add contacts to billing groups from a CSV file: all of its lines, or none."""
    content = await read_csv_request(request)
    actor = describe_actor(request, caller)
    created = await csv_import.create_contacts_from_csv(db, caller.scope, content, actor=actor)
    return ContactsCreated(created=created)


@put("/billinggroup/{company_id:str}/contacts/{contact_id:str}", **MODIFY)
async def replace_contact(
    company_id: FromPath[str],
    contact_id: FromPath[str],
    data: JSONBody[ContactBody],
    caller: RequestCaller,
    db: Transaction,
) -> Contact:
    """Replace a contact. Fields that are not sent have their default."""
    return await operations.replace_contact(db, caller.scope, company_id, contact_id, data)


@delete("/billinggroup/{company_id:str}/contacts/{contact_id:str}", **MODIFY)
async def delete_contact(
    company_id: FromPath[str], contact_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete a contact. Mails that were sent keep its name and address."""
    await operations.delete_contact(db, caller.scope, company_id, contact_id)
    return Success()


ROUTES = [
    list_contacts,
    create_contact,
    create_contacts_from_csv,
    replace_contact,
    delete_contact,
]
