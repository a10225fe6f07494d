"""Stored billing groups, and the queries that list them with everything that belongs to them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.bodies import (
    BillingGroupAccount,
    BillingGroupCreate,
    BillingGroupRecord,
    FreeFormatItem,
    InvoiceSetting,
)
from nimbill.customers.billing_groups.free_format_records import ITEM_FIELDS, free_format_items
from nimbill.customers.billing_groups.invoice_setting_records import (
    SHOWN_COLUMNS,
    build_setting,
    build_support_target,
    invoice_settings,
)
from nimbill.customers.projects.records import projects
from nimbill.database.list_query import COMPLETE, ListQuery, contains_text, order_by
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant
from nimbill.foundation.ids import new_id
from nimbill.foundation.language import Language
from nimbill.foundation.vendors import BilledVendor

__all__ = ["BillingGroupRecord", "InvoiceSetting"]


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
        "billinggroup_id_hash",
        sa.LargeBinary,
        sa.Computed("text_hash(billinggroup_id)"),
        nullable=False,
    ),
)

# The cloud_accounts package imports this one, so its table is declared here again for reading.
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


def filter_visible_groups(scope: TenantScope) -> list[sa.ColumnElement[bool]]:
    """Return conditions for the groups of the organisation that the caller may see."""
    conditions = [of_tenant(billing_groups, scope)]
    if scope.billing_groups is not None:
        conditions.append(is_any_of(billing_groups.c.company_id, scope.billing_groups))
    return conditions


# Statements are built once: building one takes longer than executing it.

_IN_ORGANISATION = billing_groups.c.organisation_id == sa.bindparam("organisation_id")

_INSERT_BILLING_GROUP = sa.insert(billing_groups)

_INSERT_BILLING_GROUP_WITH_FREE_ID = insert(billing_groups).on_conflict_do_nothing(
    constraint="billinggroup_id_taken"
)

# Fields of BillingGroupRecord and the columns that they show.
_RECORD_COLUMNS: Mapping[str, sa.Column[Any]] = {
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


_SEARCHED = ("company_id", "billinggroup_id", "billinggroup_name", "name")


@cache
def _build_select(
    *, single: bool, restricted: bool, searched: bool = False, sort: str | None = None
) -> sa.Select[*tuple[Any, ...]]:
    """Select one row per group, by default in the order of billinggroup_id.

    `single` selects the group with a company_id, `restricted` the groups in a list of ids.
    """
    stmt = (
        sa.select(*_RECORD_COLUMNS.values())
        .join_from(
            billing_groups,
            projects,
            (projects.c.organisation_id == billing_groups.c.organisation_id)
            & (projects.c.project_id == billing_groups.c.project_id),
            isouter=True,
        )
        .where(_IN_ORGANISATION)
        .order_by(*sort_groups(sort), billing_groups.c.billinggroup_id)
        .limit(sa.bindparam("limit", type_=sa.Integer))
        .offset(sa.bindparam("offset", type_=sa.Integer))
    )
    if single:
        stmt = stmt.where(billing_groups.c.company_id == sa.bindparam("company_id"))
    if restricted:
        visible_ids = sa.bindparam("visible_ids", type_=ARRAY(sa.Text))
        stmt = stmt.where(billing_groups.c.company_id == sa.func.any(visible_ids))
    if searched:
        stmt = stmt.where(match_group_text(sa.bindparam("search", type_=sa.Text)))
    return stmt


def match_group_text(text: Any) -> sa.ColumnElement[bool]:
    """Whether an id or a name of the group contains the text, in any letter case."""
    return contains_text([_RECORD_COLUMNS[name] for name in _SEARCHED], text)


def sort_groups(sort: str | None) -> list[sa.ColumnElement[Any]]:
    """Order by a field of the record; with `-` in front, descending."""
    return [] if sort is None else [order_by(_RECORD_COLUMNS[sort.removeprefix("-")], sort)]


def _select_for_groups(table: Any, *columns: Any) -> sa.Select[*tuple[Any, ...]]:
    """Select rows for many groups at once; each row starts with company_id and vendor."""
    company_ids = sa.bindparam("company_ids", type_=ARRAY(sa.Text))
    return sa.select(table.c.company_id, table.c.vendor, *columns).where(
        table.c.organisation_id == sa.bindparam("organisation_id"),
        table.c.company_id == sa.func.any(company_ids),
    )


_SELECT_SETTINGS = _select_for_groups(invoice_settings, *SHOWN_COLUMNS).order_by(
    invoice_settings.c.vendor
)
_SELECT_ITEMS = _select_for_groups(
    free_format_items, *(free_format_items.c[name] for name in ITEM_FIELDS)
).order_by(free_format_items.c.vendor, free_format_items.c.position)
_SELECT_ACCOUNTS = _select_for_groups(
    _accounts, _accounts.c.customer_id, _accounts.c.name
).order_by(_accounts.c.vendor, _accounts.c.customer_id)


async def billinggroup_id_exists(
    db: AsyncConnection, scope: TenantScope, billinggroup_id: str
) -> bool:
    """Look in the whole organisation, also among groups that the caller cannot see."""
    stmt = sa.exists().where(
        of_tenant(billing_groups, scope),
        billing_groups.c.billinggroup_id_hash == sa.func.text_hash(billinggroup_id),
    )
    return bool((await db.execute(stmt.select())).scalar_one())


async def list_taken_billinggroup_ids(
    db: AsyncConnection, scope: TenantScope, billinggroup_ids: Collection[str]
) -> set[str]:
    """Return those in use in the whole organisation, like `billinggroup_id_exists`."""
    stmt = sa.select(billing_groups.c.billinggroup_id).where(
        of_tenant(billing_groups, scope),
        is_any_of(billing_groups.c.billinggroup_id, billinggroup_ids),
    )
    return set((await db.execute(stmt)).scalars())


async def load_group_keys(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    billinggroup_ids: Collection[str],
    company_ids: Collection[str],
) -> Sequence[Row]:
    """Return company_id and billinggroup_id of the visible groups that have one of these ids."""
    stmt = sa.select(billing_groups.c.company_id, billing_groups.c.billinggroup_id).where(
        *filter_visible_groups(scope),
        is_any_of(billing_groups.c.billinggroup_id, billinggroup_ids)
        | is_any_of(billing_groups.c.company_id, company_ids),
    )
    return (await db.execute(stmt)).all()


async def find_company_ids(
    db: AsyncConnection, scope: TenantScope, names: Collection[str]
) -> dict[str, str]:
    """Find the visible groups with these ids; a company_id wins over an equal billinggroup_id."""
    rows = await load_group_keys(db, scope, billinggroup_ids=names, company_ids=names)
    return {
        **{row.billinggroup_id: row.company_id for row in rows},
        **{row.company_id: row.company_id for row in rows},
    }


async def is_billing_group_visible(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> bool:
    stmt = sa.select(
        sa.exists().where(*filter_visible_groups(scope), billing_groups.c.company_id == company_id)
    )
    return bool((await db.execute(stmt)).scalar_one())


async def lock_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> Row | None:
    """Lock the row until the transaction ends; None if the caller cannot see the group."""
    stmt = (
        sa.select(billing_groups)
        .where(*filter_visible_groups(scope), billing_groups.c.company_id == company_id)
        .with_for_update()
    )
    return (await db.execute(stmt)).one_or_none()


async def add_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str, body: BillingGroupCreate
) -> bool:
    """Return False if the billinggroup_id is in use in the organisation."""
    row = _build_row(scope, company_id, body)
    return (await db.execute(_INSERT_BILLING_GROUP_WITH_FREE_ID, row)).rowcount == 1


async def add_billing_groups(
    db: AsyncConnection, scope: TenantScope, groups: Sequence[tuple[str, BillingGroupCreate]]
) -> None:
    """Add groups without invoice settings, each with its company_id."""
    rows = [_build_row(scope, company_id, body) for company_id, body in groups]
    await db.execute(_INSERT_BILLING_GROUP, rows)


def _build_row(scope: TenantScope, company_id: str, body: BillingGroupCreate) -> dict[str, Any]:
    fields = {name: getattr(body, name) for name in body.__struct_fields__ if name != "invoices"}
    for reference in ("project_id", "invoice_template_id"):
        fields[reference] = fields[reference] or None
    return {"organisation_id": scope.organisation_id, "company_id": company_id, **fields}


async def update_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str, changes: Mapping[str, Any]
) -> None:
    await db.execute(
        sa.update(billing_groups)
        .where(of_tenant(billing_groups, scope), billing_groups.c.company_id == company_id)
        .values(**changes)
    )


async def delete_billing_group(db: AsyncConnection, scope: TenantScope, company_id: str) -> None:
    """Foreign keys delete its settings and items; accounts, resellers and invoices prevent it."""
    await db.execute(
        sa.delete(billing_groups).where(
            of_tenant(billing_groups, scope), billing_groups.c.company_id == company_id
        )
    )


async def list_billing_groups(
    db: AsyncConnection,
    scope: TenantScope,
    query: ListQuery = COMPLETE,
    company_ids: Collection[str] | None = None,
) -> list[BillingGroupRecord]:
    """List visible groups, or those of these; four queries for any number of them."""
    if company_ids is not None:
        visible = scope.billing_groups
        kept = frozenset(company_ids) if visible is None else visible & frozenset(company_ids)
        scope = replace(scope, billing_groups=kept)
    return await _load_records(db, scope, query=query)


async def count_billing_groups(db: AsyncConnection, scope: TenantScope, query: ListQuery) -> int:
    """Count the visible groups on all pages of this list."""
    stmt = sa.select(sa.func.count()).where(*filter_visible_groups(scope))
    if query.search is not None:
        stmt = stmt.where(match_group_text(query.search))
    return int((await db.execute(stmt)).scalar_one())


async def find_billing_group(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> BillingGroupRecord | None:
    groups = await _load_records(db, scope, company_id)
    return groups[0] if groups else None


async def _load_records(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str | None = None,
    *,
    query: ListQuery = COMPLETE,
) -> list[BillingGroupRecord]:
    """Load all groups that the caller may see, or only the one with this company_id."""
    parameters: dict[str, Any] = {
        "organisation_id": scope.organisation_id,
        "limit": query.limit,
        "offset": query.offset,
    }
    if query.search is not None:
        parameters["search"] = query.search
    if company_id is not None:
        parameters["company_id"] = company_id
    if scope.billing_groups is not None:
        parameters["visible_ids"] = list(scope.billing_groups)
    stmt = _build_select(
        single=company_id is not None,
        restricted=scope.billing_groups is not None,
        searched=query.search is not None,
        sort=query.sort,
    )
    rows = (await db.execute(stmt, parameters)).all()
    if not rows:
        return []
    parameters = {
        "organisation_id": scope.organisation_id,
        "company_ids": [row.company_id for row in rows],
    }
    settings = _group_by_company((await db.execute(_SELECT_SETTINGS, parameters)).all())
    items = _group_by_company((await db.execute(_SELECT_ITEMS, parameters)).all())
    accounts = _group_by_company((await db.execute(_SELECT_ACCOUNTS, parameters)).all())
    return [
        _build_record(
            row, settings[row.company_id], items[row.company_id], accounts[row.company_id]
        )
        for row in rows
    ]


def _group_by_company(rows: Sequence[Row]) -> dict[str, list[Row]]:
    rows_by_company: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        rows_by_company[row[0]].append(row)
    return rows_by_company


def _build_record(
    row: Row, settings: list[Row], items: list[Row], accounts: list[Row]
) -> BillingGroupRecord:
    fields = dict(zip(_RECORD_COLUMNS, row, strict=True))
    if fields["language"] is not None:
        fields["language"] = Language(fields["language"])
    additional_items: dict[BilledVendor, list[FreeFormatItem]] = defaultdict(list)
    for item in items:
        values = dict(zip(ITEM_FIELDS, item[2:], strict=True))
        additional_items[item.vendor].append(FreeFormatItem(**values))
    return BillingGroupRecord(
        **fields,
        invoices={setting[1]: build_setting(setting) for setting in settings},
        support_fee_targets={setting[1]: build_support_target(setting) for setting in settings},
        additional_items=dict(additional_items),
        custom_fields={},
        account=[
            BillingGroupAccount(customer_id=customer_id, customer_name=name, vendor=vendor)
            for _, vendor, customer_id, name in accounts
        ],
        tag=[],
    )
