"""Changes to contacts: the checks in order, then the change.

The billing group is locked, so that two requests at once cannot exceed the limit.
"""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.operations import require_billing_group
from nimbill.customers.billing_groups.records import is_billing_group_visible
from nimbill.customers.contacts import records
from nimbill.customers.contacts.bodies import Contact, ContactBody
from nimbill.customers.contacts.contact_rules import (
    CONTACTS_MAX,
    ContactConflict,
    find_contact_conflict,
)
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.ids import new_id

CONFLICT_DETAILS = {
    ContactConflict.contact_email_taken: "Another contact of this billing group has this address.",
    ContactConflict.too_many_contacts: (
        f"A billing group has at most {CONTACTS_MAX} contacts. Delete one first."
    ),
}


async def list_contacts(db: AsyncConnection, scope: TenantScope, company_id: str) -> list[Contact]:
    if not await is_billing_group_visible(db, scope, company_id):
        raise not_found()
    return await records.list_contacts(db, scope, company_id)


async def create_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: ContactBody
) -> Contact:
    await require_billing_group(db, scope, company_id)
    contact_id = new_id("con")
    await _refuse_conflict(db, scope, company_id, contact_id, body.email)
    await records.add_contact(db, scope, company_id, contact_id, body)
    return await _load_contact(db, scope, company_id, contact_id)


async def replace_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str, body: ContactBody
) -> Contact:
    await require_billing_group(db, scope, company_id)
    await _load_contact(db, scope, company_id, contact_id)
    await _refuse_conflict(db, scope, company_id, contact_id, body.email)
    await records.replace_contact(db, scope, company_id, contact_id, body)
    return await _load_contact(db, scope, company_id, contact_id)


async def delete_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str
) -> None:
    await require_billing_group(db, scope, company_id)
    if not await records.delete_contact(db, scope, company_id, contact_id):
        raise not_found()


async def _load_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str
) -> Contact:
    contact = await records.find_contact(db, scope, company_id, contact_id)
    if contact is None:
        raise not_found()
    return contact


async def _refuse_conflict(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str, email: str
) -> None:
    """Refuse an address that another contact of the group has, and too many contacts."""
    rows = await records.list_addresses(db, scope, company_id)
    others = [row.email for row in rows if row.contact_id != contact_id]
    conflict = find_contact_conflict(email, others)
    if conflict is not None:
        raise Conflict(conflict, CONFLICT_DETAILS[conflict])
