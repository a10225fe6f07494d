"""Adds contacts of customers from a CSV file: all of its lines, or none."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records as audit
from nimbill.customers.contacts import records
from nimbill.customers.contacts.bodies import Contact, CsvContact
from nimbill.customers.contacts.contact_rules import (
    CONTACTS_MAX,
    ContactConflict,
    find_contact_conflict,
)
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.ids import new_id
from nimbill.http.csv_bodies import (
    CsvColumn,
    CsvTable,
    ParsedRecord,
    describe_creation,
    parse_boolean,
    parse_records,
    read_csv_table,
)

COLUMNS = (
    CsvColumn("billinggroup_id", ("BillingGroupID", "請求グループID"), required=True),
    CsvColumn("name", ("Name", "氏名", "担当者名"), required=True),
    CsvColumn("email", ("Email", "メールアドレス"), required=True),
    CsvColumn("send_as", ("SendAs", "宛先区分"), convert=str.lower),
    CsvColumn("language", ("Language", "言語"), convert=str.lower),
    CsvColumn("receives_invoices", ("ReceivesInvoices", "請求書受信"), convert=parse_boolean),
)
# A list of customers that was exported can be completed with the other columns.
IGNORED_HEADERS = ("BillingGroupName", "請求グループ名", "CompanyName", "企業名")
CONFLICT_RULES = {
    ContactConflict.contact_email_taken: (
        "email",
        "an address that no contact of this billing group has yet; remove the line",
    ),
    ContactConflict.too_many_contacts: (
        "billinggroup_id",
        f"a billing group with at most {CONTACTS_MAX} contacts, counting those of the file",
    ),
}


async def create_contacts_from_csv(
    db: AsyncConnection, scope: TenantScope, content: bytes, *, actor: Mapping[str, Any]
) -> list[Contact]:
    """Create one contact per line, each with its own audit row. `actor` is for the audit log."""
    # A large file takes long enough to delay other requests of this process.
    table = await asyncio.to_thread(read_csv_table, content, COLUMNS, IGNORED_HEADERS)
    parsed = await asyncio.to_thread(parse_records, table, CsvContact)
    sent = table.list_values("billinggroup_id")
    companies = await records.lock_groups(db, scope, sent)
    unknown = set(sent) - companies.keys()
    table.report_values("billinggroup_id", unknown, "an existing billing group")
    known = [line for line in parsed if line.body.billinggroup_id in companies]
    existing = await records.load_contacts(db, scope, companies.values())
    _find_conflicts(table, known, companies, existing)
    table.refuse_errors("contacts_refused")

    new_contacts = [
        records.NewContact(companies[line.body.billinggroup_id], new_id("con"), line.body)
        for line in parsed
    ]
    await records.add_contacts(db, scope, new_contacts)
    await audit.append_entries(
        db,
        [
            describe_creation(
                actor,
                line.record,
                action="create_contact",
                resource=f"billinggroup/{new.company_id}/contacts/{new.contact_id}",
                company_id=new.company_id,
            )
            for new, line in zip(new_contacts, parsed, strict=True)
        ],
    )
    stored = await records.load_contacts(db, scope, companies.values())
    by_id = {contact.contact_id: contact for group in stored.values() for contact in group}
    return [by_id[new.contact_id] for new in new_contacts]


def _find_conflicts(
    table: CsvTable,
    lines: Sequence[ParsedRecord[CsvContact]],
    companies: Mapping[str, str],
    existing: Mapping[str, Sequence[Contact]],
) -> None:
    """Report lines that conflict with stored contacts of their group or with earlier lines."""
    first_lines: dict[tuple[str, str], int] = {}
    addresses = {
        company_id: [contact.email for contact in existing.get(company_id, ())]
        for company_id in companies.values()
    }
    for record, body in lines:
        company_id = companies[body.billinggroup_id]
        first_line = first_lines.setdefault((company_id, body.email.lower()), record.line)
        if first_line != record.line:
            rule = f"once in each billing group; line {first_line} has it already"
            table.add_error(record, "email", rule)
            continue
        conflict = find_contact_conflict(body.email, addresses[company_id])
        if conflict is None:
            addresses[company_id].append(body.email)
        else:
            table.add_error(record, *CONFLICT_RULES[conflict], is_conflict=True)
