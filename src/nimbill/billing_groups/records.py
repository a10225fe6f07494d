"""Stored billing groups and the questions asked of them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.billing_groups.bodies import BillingGroupCreate, BillingGroupRecord, InvoiceSetting
from nimbill.ids import new_id
from nimbill.storage import Scope, metadata
from nimbill.vocabulary import Language, Vendor


def _setting_column(name: str, kind: type) -> sa.Column[Any]:
    return sa.Column(name, sa.Text if kind is str else sa.Numeric, nullable=False)


projects = sa.Table(
    "projects",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("project_id", sa.Text, primary_key=True),
    sa.Column("project_code", sa.Text, nullable=False),
    sa.Column("project_label", sa.Text, nullable=False),
    sa.Column("project_currency", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

invoice_templates = sa.Table(
    "invoice_templates",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("invoice_template_id", sa.Text, primary_key=True),
    sa.Column("content", JSONB, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

billing_groups = sa.Table(
    "billing_groups",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("billinggroup_id", sa.Text, nullable=False),
    sa.Column("billinggroup_name", sa.Text, nullable=False),
    sa.Column("company_name", sa.Text, nullable=False),
    sa.Column("phone", sa.Text),
    sa.Column("postal", sa.Text),
    sa.Column("address", sa.Text),
    sa.Column("billing_title", sa.Text),
    sa.Column("personal", sa.Text),
    sa.Column("remarks", sa.Text),
    sa.Column("inv_aggregate", sa.Boolean, nullable=False),
    sa.Column("project_id", sa.Text),
    sa.Column("invoice_template_id", sa.Text),
    sa.Column("language", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_SETTING_FIELDS = InvoiceSetting.__struct_fields__

invoice_settings = sa.Table(
    "invoice_settings",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    *(_setting_column(name, InvoiceSetting.__annotations__[name]) for name in _SETTING_FIELDS),
)


def new_company_id() -> str:
    return new_id("cmp")


def _visible(scope: Scope) -> list[sa.ColumnElement[bool]]:
    """The groups of the organisation that the caller may know of."""
    of_organisation = [billing_groups.c.organisation_id == scope.organisation_id]
    if scope.billing_groups is None:
        return of_organisation
    return [*of_organisation, billing_groups.c.company_id.in_(scope.billing_groups)]


async def billinggroup_id_taken(db: AsyncConnection, scope: Scope, billinggroup_id: str) -> bool:
    """Asked of the whole organisation: an id hidden from the caller is taken all the same."""
    question = sa.select(
        sa.exists().where(
            billing_groups.c.organisation_id == scope.organisation_id,
            sa.func.text_key(billing_groups.c.billinggroup_id) == sa.func.text_key(billinggroup_id),
        )
    )
    return bool((await db.execute(question)).scalar_one())


async def project_exists(db: AsyncConnection, scope: Scope, project_id: str) -> bool:
    question = sa.select(
        sa.exists().where(
            projects.c.organisation_id == scope.organisation_id,
            projects.c.project_id == project_id,
        )
    )
    return bool((await db.execute(question)).scalar_one())


async def invoice_template_exists(
    db: AsyncConnection, scope: Scope, invoice_template_id: str
) -> bool:
    question = sa.select(
        sa.exists().where(
            invoice_templates.c.organisation_id == scope.organisation_id,
            invoice_templates.c.invoice_template_id == invoice_template_id,
        )
    )
    return bool((await db.execute(question)).scalar_one())


async def add_billing_group(
    db: AsyncConnection, scope: Scope, company_id: str, body: BillingGroupCreate
) -> None:
    fields = {name: getattr(body, name) for name in body.__struct_fields__ if name != "invoices"}
    for reference in ("project_id", "invoice_template_id"):
        fields[reference] = fields[reference] or None
    await db.execute(
        sa.insert(billing_groups).values(
            organisation_id=scope.organisation_id, company_id=company_id, **fields
        )
    )


async def add_invoice_settings(
    db: AsyncConnection, scope: Scope, company_id: str, settings: dict[Vendor, InvoiceSetting]
) -> None:
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "company_id": company_id,
            "vendor": vendor.value,
            **{name: getattr(setting, name) for name in _SETTING_FIELDS},
        }
        for vendor, setting in settings.items()
    ]
    await db.execute(sa.insert(invoice_settings), rows)


async def list_billing_groups(db: AsyncConnection, scope: Scope) -> list[BillingGroupRecord]:
    """Every visible group, by billinggroup_id; two questions however many there are."""
    return await _records(db, scope, [])


async def find_billing_group(
    db: AsyncConnection, scope: Scope, company_id: str
) -> BillingGroupRecord | None:
    found = await _records(db, scope, [billing_groups.c.company_id == company_id])
    return found[0] if found else None


async def _records(
    db: AsyncConnection, scope: Scope, which: Sequence[sa.ColumnElement[bool]]
) -> list[BillingGroupRecord]:
    question = (
        sa.select(
            billing_groups,
            projects.c.project_code,
            projects.c.project_label,
            projects.c.project_currency,
        )
        .join_from(
            billing_groups,
            projects,
            (projects.c.organisation_id == billing_groups.c.organisation_id)
            & (projects.c.project_id == billing_groups.c.project_id),
            isouter=True,
        )
        .where(*_visible(scope), *which)
        .order_by(billing_groups.c.billinggroup_id)
    )
    rows = (await db.execute(question)).all()
    settings = await _settings(db, scope, [row.company_id for row in rows])
    return [_record(row, settings[row.company_id]) for row in rows]


async def _settings(
    db: AsyncConnection, scope: Scope, company_ids: Sequence[str]
) -> dict[str, dict[Vendor, InvoiceSetting]]:
    found: dict[str, dict[Vendor, InvoiceSetting]] = defaultdict(dict)
    if not company_ids:
        return found
    question = (
        sa.select(invoice_settings)
        .where(
            invoice_settings.c.organisation_id == scope.organisation_id,
            invoice_settings.c.company_id == sa.func.any(company_ids),
        )
        .order_by(invoice_settings.c.vendor)
    )
    for row in await db.execute(question):
        values = {name: getattr(row, name) for name in _SETTING_FIELDS}
        found[row.company_id][Vendor(row.vendor)] = InvoiceSetting(**values)
    return found


def _record(row: Any, invoices: dict[Vendor, InvoiceSetting]) -> BillingGroupRecord:
    return BillingGroupRecord(
        company_id=row.company_id,
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        name=row.company_name,
        contact=row.personal,
        title=row.billing_title,
        address=row.address,
        postal=row.postal,
        phone=row.phone,
        remarks=row.remarks,
        inv_aggregate=row.inv_aggregate,
        language=None if row.language is None else Language(row.language),
        invoices=invoices,
        additional_items={},
        project_id=row.project_id,
        project_code=row.project_code,
        project_label=row.project_label,
        project_currency=row.project_currency,
        invoice_template_id=row.invoice_template_id,
        custom_fields={},
        account=[],
        tag=[],
    )
