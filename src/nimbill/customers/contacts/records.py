"""The table of contacts, and the queries on it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.customers.contacts.bodies import Contact, ContactBody, SendAs
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant
from nimbill.foundation import clock
from nimbill.foundation.language import Language

__all__ = ["Contact", "SendAs"]

contacts = sa.Table(
    "contacts",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("contact_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("send_as", sa.Text, nullable=False),
    sa.Column("receives_invoices", sa.Boolean, nullable=False),
    sa.Column("language", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_contacts = contacts.c


class NewContact(NamedTuple):
    company_id: str
    contact_id: str
    body: ContactBody


def _match_contact(
    scope: TenantScope, company_id: str, contact_id: str
) -> list[sa.ColumnElement[bool]]:
    return [
        of_tenant(contacts, scope),
        _contacts.company_id == company_id,
        _contacts.contact_id == contact_id,
    ]


async def list_contacts(db: AsyncConnection, scope: TenantScope, company_id: str) -> list[Contact]:
    """List the contacts of a group, recipients of `to` first; none if it is not visible."""
    return (await load_contacts(db, scope, [company_id])).get(company_id, [])


async def load_contacts(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str]
) -> Mapping[str, list[Contact]]:
    """Load the contacts of these groups that the caller may see, by company_id."""
    stmt = (
        sa.select(contacts)
        .join_from(
            contacts,
            billing_groups,
            (billing_groups.c.organisation_id == _contacts.organisation_id)
            & (billing_groups.c.company_id == _contacts.company_id),
        )
        .where(
            of_tenant(contacts, scope),
            is_any_of(_contacts.company_id, company_ids),
            *filter_visible_groups(scope),
        )
        .order_by(_contacts.send_as.desc(), _contacts.create_time, _contacts.contact_id)
    )
    by_company: dict[str, list[Contact]] = defaultdict(list)
    for row in await db.execute(stmt):
        by_company[row.company_id].append(_build_contact(row))
    return by_company


async def find_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str
) -> Contact | None:
    stmt = sa.select(contacts).where(*_match_contact(scope, company_id, contact_id))
    row = (await db.execute(stmt)).one_or_none()
    return None if row is None else _build_contact(row)


async def list_addresses(db: AsyncConnection, scope: TenantScope, company_id: str) -> Sequence[Row]:
    """List contact_id and address of every contact of a group."""
    stmt = sa.select(_contacts.contact_id, _contacts.email).where(
        of_tenant(contacts, scope), _contacts.company_id == company_id
    )
    return (await db.execute(stmt)).all()


async def lock_groups(
    db: AsyncConnection, scope: TenantScope, billinggroup_ids: Collection[str]
) -> Mapping[str, str]:
    """Lock the visible groups with these ids; return the company_id of each.

    They are locked in one order, so that two files at once do not wait for each other.
    """
    stmt = (
        sa.select(billing_groups.c.billinggroup_id, billing_groups.c.company_id)
        .where(
            of_tenant(billing_groups, scope),
            is_any_of(billing_groups.c.billinggroup_id, billinggroup_ids),
            *filter_visible_groups(scope),
        )
        .order_by(billing_groups.c.company_id)
        .with_for_update()
    )
    return {row.billinggroup_id: row.company_id for row in await db.execute(stmt)}


async def add_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str, body: ContactBody
) -> None:
    await add_contacts(db, scope, [NewContact(company_id, contact_id, body)])


async def add_contacts(
    db: AsyncConnection, scope: TenantScope, new_contacts: Sequence[NewContact]
) -> None:
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "contact_id": new.contact_id,
            "company_id": new.company_id,
            **_list_values(new.body),
        }
        for new in new_contacts
    ]
    await db.execute(sa.insert(contacts), rows)


async def replace_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str, body: ContactBody
) -> bool:
    """Return whether the group has the contact."""
    stmt = sa.update(contacts).where(*_match_contact(scope, company_id, contact_id))
    return bool((await db.execute(stmt.values(**_list_values(body)))).rowcount)


async def delete_contact(
    db: AsyncConnection, scope: TenantScope, company_id: str, contact_id: str
) -> bool:
    """Return whether the group had the contact."""
    stmt = sa.delete(contacts).where(*_match_contact(scope, company_id, contact_id))
    return bool((await db.execute(stmt)).rowcount)


def _list_values(body: ContactBody) -> dict[str, Any]:
    return {
        "name": body.name,
        "email": body.email,
        "send_as": body.send_as or SendAs.to,
        "receives_invoices": body.receives_invoices is not False,
        "language": body.language,
    }


def _build_contact(row: Row) -> Contact:
    return Contact(
        contact_id=row.contact_id,
        company_id=row.company_id,
        name=row.name,
        email=row.email,
        send_as=SendAs(row.send_as),
        receives_invoices=row.receives_invoices,
        language=None if row.language is None else Language(row.language),
        create_time=clock.format_timestamp(row.create_time),
    )
