"""Creates billing groups from a CSV file: all of its lines, or none."""

import asyncio
from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records as audit
from nimbill.customers.billing_groups import records
from nimbill.customers.billing_groups.bodies import BillingGroupCreate, CreatedBillingGroup
from nimbill.customers.invoice_templates.records import list_existing_templates
from nimbill.customers.projects.records import list_existing_projects
from nimbill.database.tenant_scope import TenantScope
from nimbill.http.csv_bodies import (
    CsvColumn,
    CsvTable,
    describe_creation,
    parse_boolean,
    parse_records,
    read_csv_table,
)

# The headers of the exported file, and columns that it does not have.
COLUMNS = (
    CsvColumn("billinggroup_id", ("請求グループID",), required=True),
    CsvColumn("billinggroup_name", ("請求グループ名",), required=True),
    CsvColumn("company_name", ("企業名",), required=True),
    CsvColumn("postal", ("郵便番号",)),
    CsvColumn("address", ("住所",)),
    CsvColumn("phone", ("電話番号",)),
    CsvColumn("personal", ("宛名",)),
    CsvColumn("billing_title", ("請求書タイトル",)),
    CsvColumn("remarks", ("備考",)),
    CsvColumn("inv_aggregate", ("請求書合算",), convert=parse_boolean, default=False),
    CsvColumn("project_id", ("プロジェクトID",)),
    CsvColumn("invoice_template_id", ("請求書テンプレートID",)),
    CsvColumn("language", ("言語",)),
)
IGNORED_HEADERS = ("コスト", "カスタムフィールド")


async def create_billing_groups_from_csv(
    db: AsyncConnection, scope: TenantScope, content: bytes, *, actor: Mapping[str, Any]
) -> list[CreatedBillingGroup]:
    """Create one group per line, each with its own audit row. `actor` is for the audit log."""
    # A large file takes long enough to delay other requests of this process.
    table = await asyncio.to_thread(read_csv_table, content, COLUMNS, IGNORED_HEADERS)
    parsed = await asyncio.to_thread(parse_records, table, BillingGroupCreate)
    table.find_duplicates("billinggroup_id")
    await _find_broken_references(db, scope, table)
    sent = table.list_values("billinggroup_id")
    taken = await records.list_taken_billinggroup_ids(db, scope, sent)
    table.report_taken("billinggroup_id", taken)
    table.refuse_errors("billinggroup_id_taken")

    groups = [(records.new_company_id(), line.body) for line in parsed]
    await records.add_billing_groups(db, scope, groups)
    created = [
        CreatedBillingGroup(company_id=company_id, billinggroup_id=body.billinggroup_id)
        for company_id, body in groups
    ]
    await audit.append_entries(
        db,
        [
            describe_creation(
                actor,
                line.record,
                action="create_billing_group",
                resource=f"billinggroup/{company_id}",
                company_id=company_id,
            )
            for (company_id, _), line in zip(groups, parsed, strict=True)
        ],
    )
    return created


async def _find_broken_references(db: AsyncConnection, scope: TenantScope, table: CsvTable) -> None:
    for name, list_existing, rule in (
        ("project_id", list_existing_projects, "an existing project"),
        ("invoice_template_id", list_existing_templates, "an existing invoice template"),
    ):
        sent = table.list_values(name)
        unknown = set(sent) - (await list_existing(db, scope, sent) if sent else set())
        table.report_values(name, unknown, rule)
