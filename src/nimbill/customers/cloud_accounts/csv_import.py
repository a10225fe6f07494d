"""Creates cloud accounts from a CSV file: all of its lines, or none."""

import asyncio
from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.hooks import ListChargedAccounts
from nimbill.audit import records as audit
from nimbill.customers.billing_groups.records import load_group_keys
from nimbill.customers.cloud_accounts import records
from nimbill.customers.cloud_accounts.bodies import CloudAccountCreate, CreatedAccount
from nimbill.customers.cloud_accounts.operations import find_accounts_outside
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.database.tenant_scope import TenantScope
from nimbill.http.csv_bodies import (
    CsvColumn,
    CsvRecord,
    CsvTable,
    describe_creation,
    parse_records,
    read_csv_table,
)

# A line names its group by one of the last two columns, or by both.
COLUMNS = (
    CsvColumn("vendor", ("ベンダー",), required=True),
    CsvColumn("customer_id", ("CustomerID", "アカウントID"), required=True),
    CsvColumn("account_id", ("AccountID", "支払アカウントID"), required=True),
    CsvColumn("name", ("CustomerName", "アカウント名"), required=True),
    CsvColumn("note", ("メモ",)),
    CsvColumn("billinggroup_id", ("BillingGroupID", "請求グループID")),
    CsvColumn("company_id", ("CompanyID",)),
)
IGNORED_HEADERS = ("BillingGroupName", "請求グループ名", "CompanyName", "企業名")


async def create_accounts_from_csv(
    db: AsyncConnection,
    scope: TenantScope,
    content: bytes,
    list_charged_accounts: ListChargedAccounts,
    *,
    actor: Mapping[str, Any],
) -> list[CreatedAccount]:
    """Create one account per line, each with its own audit row. `actor` is for the audit log."""
    # A large file takes long enough to delay other requests of this process.
    table = await asyncio.to_thread(read_csv_table, content, COLUMNS, IGNORED_HEADERS)
    await _resolve_groups(db, scope, table)
    vendors = await load_vendors(db, scope, lock=True)
    parsed = await asyncio.to_thread(parse_records, table, CloudAccountCreate, vendors)
    table.find_duplicates("customer_id")
    await _find_taken_ids(db, scope, table, list_charged_accounts)
    table.refuse_errors("customer_id_taken")

    await records.add_accounts(db, scope, [line.body for line in parsed])
    await audit.append_entries(
        db,
        [
            describe_creation(
                actor,
                line.record,
                action="create_account",
                resource=f"acct/{line.body.customer_id}",
                company_id=line.body.company_id,
            )
            for line in parsed
        ],
    )
    return [
        CreatedAccount(
            vendor=line.body.vendor,
            customer_id=line.body.customer_id,
            company_id=line.body.company_id,
        )
        for line in parsed
    ]


async def _resolve_groups(db: AsyncConnection, scope: TenantScope, table: CsvTable) -> None:
    """Replace billinggroup_id by company_id; the caller must see the group."""
    groups = await load_group_keys(
        db,
        scope,
        billinggroup_ids=table.list_values("billinggroup_id"),
        company_ids=table.list_values("company_id"),
    )
    by_name = {group.billinggroup_id: group.company_id for group in groups}
    visible = {group.company_id for group in groups}
    for record in table.records:
        _resolve_group(table, record, by_name, visible)


def _resolve_group(
    table: CsvTable, record: CsvRecord, by_name: Mapping[str, str], visible: set[str]
) -> None:
    name, company_id = record.values.get("billinggroup_id"), record.values.get("company_id")
    if name is None and company_id is None:
        table.add_error(record, "billinggroup_id", "required, unless there is a company_id")
    elif name is not None and name not in by_name:
        table.add_error(record, "billinggroup_id", "an existing billing group")
    elif company_id is not None and company_id not in visible:
        table.add_error(record, "company_id", "an existing billing group")
    elif name is not None and company_id not in (None, by_name[name]):
        table.add_error(record, "company_id", "the billing group that billinggroup_id names")
    # Without a valid group the other fields are still checked.
    record.values["company_id"] = by_name.get(name or "", company_id or "")


async def _find_taken_ids(
    db: AsyncConnection,
    scope: TenantScope,
    table: CsvTable,
    list_charged_accounts: ListChargedAccounts,
) -> None:
    sent = table.list_values("customer_id")
    outside = await find_accounts_outside(db, scope, sent, list_charged_accounts)
    table.report_values("customer_id", outside, "not in use outside your billing groups")
    taken = await records.load_groups_of_accounts(db, scope, sent)
    table.report_taken("customer_id", taken.keys() - outside)
