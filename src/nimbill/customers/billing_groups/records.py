"""Stored billing groups and the questions asked of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.bodies import (
    AccountOfGroup,
    BillingGroupCreate,
    BillingGroupRecord,
    FreeFormatItem,
    InvoiceSetting,
)
from nimbill.customers.billing_groups.free_format_records import ITEM_FIELDS, free_format_items
from nimbill.customers.billing_groups.settled_terms import Settled
from nimbill.customers.projects.records import projects
from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows
from nimbill.foundation.ids import new_id
from nimbill.foundation.vendors import BILLED_VENDORS, BilledVendor
from nimbill.foundation.vocabulary import Language

__all__ = ["BillingGroupRecord", "InvoiceSetting"]


def _setting_column(name: str, kind: type) -> sa.Column[Any]:
    return sa.Column(name, sa.Text if kind is str else sa.Numeric, nullable=False)


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
    sa.Column("substitution_basis", sa.Text, nullable=False),
    sa.Column("substitution_scope", sa.Text, nullable=False),
    sa.Column("support_basis", sa.Text, nullable=False),
    sa.Column("support_scope", sa.Text),
)

# the room above keeps accounts; a group shows them
_accounts = sa.table(
    "cloud_accounts",
    sa.column("organisation_id"),
    sa.column("company_id"),
    sa.column("customer_id"),
    sa.column("name"),
    sa.column("vendor"),
)


def new_company_id() -> str:
    return new_id("cmp")


def visible(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    """The groups of the organisation that the caller may know of."""
    of_organisation = [billing_groups.c.organisation_id == scope.organisation_id]
    if scope.billing_groups is None:
        return of_organisation
    return [*of_organisation, visible_rows(billing_groups.c.company_id, scope.billing_groups)]


# Statements are built once: building one takes longer than asking it.

_IN_ORGANISATION = billing_groups.c.organisation_id == sa.bindparam("organisation_id")

_BILLINGGROUP_ID_TAKEN = sa.select(
    sa.exists().where(
        _IN_ORGANISATION,
        billing_groups.c.billinggroup_key
        == sa.func.text_key(sa.bindparam("billinggroup_id", type_=sa.Text)),
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


@cache
def _groups_question(*, one: bool, narrowed: bool) -> sa.Select[*tuple[Any, ...]]:
    """One row a group, by billinggroup_id."""
    question = (
        sa.select(*_SHOWN.values())
        .join_from(
            billing_groups,
            projects,
            (projects.c.organisation_id == billing_groups.c.organisation_id)
            & (projects.c.project_id == billing_groups.c.project_id),
            isouter=True,
        )
        .where(_IN_ORGANISATION)
        .order_by(billing_groups.c.billinggroup_id)
        .limit(sa.bindparam("limit", type_=sa.Integer))
        .offset(sa.bindparam("offset", type_=sa.Integer))
    )
    if one:
        question = question.where(billing_groups.c.company_id == sa.bindparam("company_id"))
    if narrowed:
        visible_ids = sa.bindparam("visible", type_=ARRAY(sa.Text))
        question = question.where(billing_groups.c.company_id == sa.func.any(visible_ids))
    return question


def _of_groups(table: Any, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    """What hangs on the groups named, all in one question."""
    named = sa.bindparam("company_ids", type_=ARRAY(sa.Text))
    return sa.select(table.c.company_id, table.c.vendor, *columns).where(
        table.c.organisation_id == sa.bindparam("organisation_id"),
        table.c.company_id == sa.func.any(named),
    )


_SETTINGS_OF = _of_groups(
    invoice_settings, *(invoice_settings.c[name] for name in _SETTING_FIELDS)
).order_by(invoice_settings.c.vendor)
_ITEMS_OF = _of_groups(
    free_format_items, *(free_format_items.c[name] for name in ITEM_FIELDS)
).order_by(free_format_items.c.vendor, free_format_items.c.position)
_ACCOUNTS_OF = _of_groups(_accounts, _accounts.c.customer_id, _accounts.c.name).order_by(
    _accounts.c.vendor, _accounts.c.customer_id
)


async def billinggroup_id_taken(
    db: AsyncConnection, scope: TenantScope, billinggroup_id: str
) -> bool:
    """Asked of the whole organisation: an id hidden from the caller is taken all the same."""
    asked = {"organisation_id": scope.organisation_id, "billinggroup_id": billinggroup_id}
    return bool((await db.execute(_BILLINGGROUP_ID_TAKEN, asked)).scalar_one())


async def billing_group_visible(db: AsyncConnection, scope: TenantScope, company_id: str) -> bool:
    question = sa.select(
        sa.exists().where(*visible(scope), billing_groups.c.company_id == company_id)
    )
    return bool((await db.execute(question)).scalar_one())


async def lock_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> Row | None:
    """For the change that follows; None where it is not the caller's to see."""
    question = (
        sa.select(billing_groups)
        .where(*visible(scope), billing_groups.c.company_id == company_id)
        .with_for_update()
    )
    return (await db.execute(question)).one_or_none()


async def add_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: BillingGroupCreate
) -> None:
    fields = {name: getattr(body, name) for name in body.__struct_fields__ if name != "invoices"}
    for reference in ("project_id", "invoice_template_id"):
        fields[reference] = fields[reference] or None
    row = {"organisation_id": scope.organisation_id, "company_id": company_id, **fields}
    await db.execute(_ADD_BILLING_GROUP, row)


async def change_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str, changes: Mapping[str, Any]
) -> None:
    await db.execute(
        sa.update(billing_groups)
        .where(
            billing_groups.c.organisation_id == scope.organisation_id,
            billing_groups.c.company_id == company_id,
        )
        .values(**changes)
    )


async def delete_billing_group(db: AsyncConnection, scope: TenantScope, company_id: str) -> None:
    """Its settings and items go with it; accounts, resellers and invoices forbid it."""
    await db.execute(
        sa.delete(billing_groups).where(
            billing_groups.c.organisation_id == scope.organisation_id,
            billing_groups.c.company_id == company_id,
        )
    )


def _setting_row(
    scope: TenantScope,
    company_id: str,
    vendor: BilledVendor,
    setting: InvoiceSetting,
    settled: Settled,
) -> dict[str, Any]:
    return {
        "organisation_id": scope.organisation_id,
        "company_id": company_id,
        "vendor": vendor,
        **{name: getattr(setting, name) for name in _SETTING_FIELDS},
        **asdict(settled),
    }


async def add_invoice_settings(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str,
    settings: Mapping[BilledVendor, tuple[InvoiceSetting, Settled]],
) -> None:
    rows = [
        _setting_row(scope, company_id, vendor, setting, settled)
        for vendor, (setting, settled) in settings.items()
    ]
    await db.execute(_ADD_INVOICE_SETTINGS, rows)


async def settled_terms(
    db: AsyncConnection, scope: TenantScope, company_id: str, vendor: BilledVendor
) -> Settled | None:
    question = sa.select(
        *(invoice_settings.c[name] for name in Settled.__dataclass_fields__)
    ).where(
        invoice_settings.c.organisation_id == scope.organisation_id,
        invoice_settings.c.company_id == company_id,
        invoice_settings.c.vendor == vendor,
    )
    row = (await db.execute(question)).one_or_none()
    return None if row is None else Settled(*row)


async def put_invoice_setting(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str,
    vendor: BilledVendor,
    setting: InvoiceSetting,
    settled: Settled,
) -> None:
    row = _setting_row(scope, company_id, vendor, setting, settled)
    key = ("organisation_id", "company_id", "vendor")
    await db.execute(
        insert(invoice_settings)
        .values(**row)
        .on_conflict_do_update(
            index_elements=list(key), set_={k: v for k, v in row.items() if k not in key}
        )
    )


async def list_billing_groups(
    db: AsyncConnection, scope: TenantScope, *, limit: int | None = None, offset: int = 0
) -> list[BillingGroupRecord]:
    """Every visible group, by billinggroup_id; four questions however many there are."""
    return await _records(db, scope, limit=limit, offset=offset)


async def find_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> BillingGroupRecord | None:
    found = await _records(db, scope, company_id)
    return found[0] if found else None


async def _records(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str | None = None,
    *,
    limit: int | None = None,
    offset: int = 0,
) -> list[BillingGroupRecord]:
    """The groups of the organisation that the caller may know of, or the one of them asked for."""
    asked: dict[str, Any] = {
        "organisation_id": scope.organisation_id,
        "limit": limit,
        "offset": offset,
    }
    if company_id is not None:
        asked["company_id"] = company_id
    if scope.billing_groups is not None:
        asked["visible"] = list(scope.billing_groups)
    question = _groups_question(one=company_id is not None, narrowed="visible" in asked)
    rows = (await db.execute(question, asked)).all()
    if not rows:
        return []
    named = {
        "organisation_id": scope.organisation_id,
        "company_ids": [row.company_id for row in rows],
    }
    settings = _by_group((await db.execute(_SETTINGS_OF, named)).all())
    items = _by_group((await db.execute(_ITEMS_OF, named)).all())
    accounts = _by_group((await db.execute(_ACCOUNTS_OF, named)).all())
    return [
        _record(row, settings[row.company_id], items[row.company_id], accounts[row.company_id])
        for row in rows
    ]


def _by_group(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[0]].append(row)
    return found


# a lookup takes a third of the time of asking the enum, and lists are long
_VENDORS = {vendor: vendor for vendor in BILLED_VENDORS}


def _record(
    row: Row, settings: list[Row], items: list[Row], accounts: list[Row]
) -> BillingGroupRecord:
    shown = dict(zip(_SHOWN, row, strict=True))
    if shown["language"] is not None:
        shown["language"] = Language(shown["language"])
    additional: dict[BilledVendor, list[FreeFormatItem]] = defaultdict(list)
    for item in items:
        values = dict(zip(ITEM_FIELDS, item[2:], strict=True))
        additional[_VENDORS[item.vendor]].append(FreeFormatItem(**values))
    return BillingGroupRecord(
        **shown,
        invoices={_VENDORS[setting.vendor]: _setting(setting) for setting in settings},
        additional_items=dict(additional),
        custom_fields={},
        account=[
            AccountOfGroup(customer_id=customer_id, customer_name=name, vendor=_VENDORS[vendor])
            for _, vendor, customer_id, name in accounts
        ],
        tag=[],
    )


def _setting(row: Row) -> InvoiceSetting:
    return InvoiceSetting(**dict(zip(_SETTING_FIELDS, row[2:], strict=True)))
