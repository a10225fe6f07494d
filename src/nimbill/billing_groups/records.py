"""Stored billing groups and the questions asked of them."""

from collections.abc import Mapping
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.billing_groups.bodies import BillingGroupCreate, BillingGroupRecord, InvoiceSetting
from nimbill.ids import new_id
from nimbill.storage import Row, Scope, metadata
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
    sa.Column(
        "billinggroup_key",
        sa.LargeBinary,
        sa.Computed("text_key(billinggroup_id)"),
        nullable=False,
    ),
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


# Statements are built once: building one takes longer than asking it.

_IN_ORGANISATION = billing_groups.c.organisation_id == sa.bindparam("organisation_id")

_BILLINGGROUP_ID_TAKEN = sa.select(
    sa.exists().where(
        _IN_ORGANISATION,
        billing_groups.c.billinggroup_key
        == sa.func.text_key(sa.bindparam("billinggroup_id", type_=sa.Text)),
    )
)

_PROJECT_EXISTS = sa.select(
    sa.exists().where(
        projects.c.organisation_id == sa.bindparam("organisation_id"),
        projects.c.project_id == sa.bindparam("project_id"),
    )
)

_INVOICE_TEMPLATE_EXISTS = sa.select(
    sa.exists().where(
        invoice_templates.c.organisation_id == sa.bindparam("organisation_id"),
        invoice_templates.c.invoice_template_id == sa.bindparam("invoice_template_id"),
    )
)

_ADD_BILLING_GROUP = sa.insert(billing_groups)
_ADD_INVOICE_SETTINGS = sa.insert(invoice_settings)

# a field of the record and the column it shows
_SHOWN: Mapping[str, sa.Column[Any]] = {
    "company_id": billing_groups.c.company_id,
    "billinggroup_id": billing_groups.c.billinggroup_id,
    "billinggroup_name": billing_groups.c.billinggroup_name,
    "name": billing_groups.c.company_name,
    "contact": billing_groups.c.personal,
    "title": billing_groups.c.billing_title,
    "address": billing_groups.c.address,
    "postal": billing_groups.c.postal,
    "phone": billing_groups.c.phone,
    "remarks": billing_groups.c.remarks,
    "inv_aggregate": billing_groups.c.inv_aggregate,
    "language": billing_groups.c.language,
    "project_id": billing_groups.c.project_id,
    "project_code": projects.c.project_code,
    "project_label": projects.c.project_label,
    "project_currency": projects.c.project_currency,
    "invoice_template_id": billing_groups.c.invoice_template_id,
}
_VENDOR_AT = len(_SHOWN)  # in a row; the fields of the vendor's setting follow


@cache
def _records_question(*, one: bool, narrowed: bool) -> sa.Select[*tuple[Any, ...]]:
    """A row per group and vendor, or one with no vendor; groups by billinggroup_id."""
    question = (
        sa.select(
            *_SHOWN.values(),
            invoice_settings.c.vendor,
            *(invoice_settings.c[name] for name in _SETTING_FIELDS),
        )
        .join_from(
            billing_groups,
            projects,
            (projects.c.organisation_id == billing_groups.c.organisation_id)
            & (projects.c.project_id == billing_groups.c.project_id),
            isouter=True,
        )
        .join(
            invoice_settings,
            (invoice_settings.c.organisation_id == billing_groups.c.organisation_id)
            & (invoice_settings.c.company_id == billing_groups.c.company_id),
            isouter=True,
        )
        .where(_IN_ORGANISATION)
        .order_by(billing_groups.c.billinggroup_id, invoice_settings.c.vendor)
    )
    if one:
        question = question.where(billing_groups.c.company_id == sa.bindparam("company_id"))
    if narrowed:
        visible = sa.bindparam("visible", type_=ARRAY(sa.Text))
        question = question.where(billing_groups.c.company_id == sa.func.any(visible))
    return question


async def billinggroup_id_taken(db: AsyncConnection, scope: Scope, billinggroup_id: str) -> bool:
    """Asked of the whole organisation: an id hidden from the caller is taken all the same."""
    asked = {"organisation_id": scope.organisation_id, "billinggroup_id": billinggroup_id}
    return bool((await db.execute(_BILLINGGROUP_ID_TAKEN, asked)).scalar_one())


async def project_exists(db: AsyncConnection, scope: Scope, project_id: str) -> bool:
    asked = {"organisation_id": scope.organisation_id, "project_id": project_id}
    return bool((await db.execute(_PROJECT_EXISTS, asked)).scalar_one())


async def invoice_template_exists(
    db: AsyncConnection, scope: Scope, invoice_template_id: str
) -> bool:
    asked = {"organisation_id": scope.organisation_id, "invoice_template_id": invoice_template_id}
    return bool((await db.execute(_INVOICE_TEMPLATE_EXISTS, asked)).scalar_one())


async def add_billing_group(
    db: AsyncConnection, scope: Scope, company_id: str, body: BillingGroupCreate
) -> None:
    fields = {name: getattr(body, name) for name in body.__struct_fields__ if name != "invoices"}
    for reference in ("project_id", "invoice_template_id"):
        fields[reference] = fields[reference] or None
    row = {"organisation_id": scope.organisation_id, "company_id": company_id, **fields}
    await db.execute(_ADD_BILLING_GROUP, row)


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
    await db.execute(_ADD_INVOICE_SETTINGS, rows)


async def list_billing_groups(db: AsyncConnection, scope: Scope) -> list[BillingGroupRecord]:
    """Every visible group, by billinggroup_id; one question however many there are."""
    return await _records(db, scope)


async def find_billing_group(
    db: AsyncConnection, scope: Scope, company_id: str
) -> BillingGroupRecord | None:
    found = await _records(db, scope, company_id)
    return found[0] if found else None


async def _records(
    db: AsyncConnection, scope: Scope, company_id: str | None = None
) -> list[BillingGroupRecord]:
    """The groups of the organisation that the caller may know of, or the one of them asked for."""
    asked: dict[str, Any] = {"organisation_id": scope.organisation_id}
    if company_id is not None:
        asked["company_id"] = company_id
    if scope.billing_groups is not None:
        asked["visible"] = list(scope.billing_groups)
    question = _records_question(one=company_id is not None, narrowed="visible" in asked)
    rows = await db.execute(question, asked)
    return [_record(list(of_group)) for _, of_group in groupby(rows, key=itemgetter(0))]


def _record(rows: list[Row]) -> BillingGroupRecord:
    shown = dict(zip(_SHOWN, rows[0], strict=False))
    if shown["language"] is not None:
        shown["language"] = Language(shown["language"])
    return BillingGroupRecord(
        **shown,
        invoices={
            Vendor(row[_VENDOR_AT]): _setting(row) for row in rows if row[_VENDOR_AT] is not None
        },
        additional_items={},
        custom_fields={},
        account=[],
        tag=[],
    )


def _setting(row: Row) -> InvoiceSetting:
    return InvoiceSetting(**dict(zip(_SETTING_FIELDS, row[_VENDOR_AT + 1 :], strict=True)))
