"""Queries of the search: first what begins with the text, then what contains it."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.search.bodies import FoundAccount, FoundGroup, FoundInvoice
from nimbill.closing.search.invoice_number_rules import NamedInvoices
from nimbill.customers.billing_groups.records import (
    billing_groups,
    filter_visible_groups,
    match_group_text,
)
from nimbill.customers.cloud_accounts.records import NAME_PREFIX_LENGTH, cloud_accounts
from nimbill.database.list_query import contains_text
from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.invoicing.documents.replaced_invoices import find_replaced_invoices
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, invoices

FOUND_MAX = 10
_LAST_CHARACTER = "\U0010ffff"

_groups, _accounts, _invoices = billing_groups.c, cloud_accounts.c, invoices.c


def _in_group(table: sa.Table) -> sa.ColumnElement[bool]:
    return (_groups.organisation_id == table.c.organisation_id) & (
        _groups.company_id == table.c.company_id
    )


def begins_with(column: sa.ColumnElement[str], text: Any) -> sa.ColumnElement[bool]:
    """Compare with operators that an index of text_pattern_ops supports behind row security."""
    above = column.op("~>=~", is_comparison=True)(text)
    return above & column.op("~<~", is_comparison=True)(text + _LAST_CHARACTER)


async def find_groups(db: AsyncConnection, scope: TenantScope, text: str) -> list[FoundGroup]:
    columns = (_groups.company_id, _groups.billinggroup_id, _groups.billinggroup_name)
    first = [sa.func.starts_with(sa.func.lower(column), text.lower()) for column in columns]
    stmt = (
        sa.select(*columns, _groups.company_name)
        .where(*filter_visible_groups(scope), match_group_text(text))
        .order_by(sa.or_(*first).desc(), _groups.billinggroup_id)
        .limit(FOUND_MAX)
    )
    return [
        FoundGroup(company_id=row[0], billinggroup_id=row[1], billinggroup_name=row[2], name=row[3])
        for row in await db.execute(stmt)
    ]


async def find_accounts(db: AsyncConnection, scope: TenantScope, text: str) -> list[FoundAccount]:
    """Look at every account only if too few begin with the text."""
    lowered = text.lower()[:NAME_PREFIX_LENGTH]
    found = [
        *await _list_accounts(db, scope, begins_with(_accounts.customer_id, text)),
        *await _list_accounts(db, scope, begins_with(_accounts.name_prefix, lowered)),
    ]
    if len(found) < FOUND_MAX:
        columns = [_accounts.customer_id, _accounts.name]
        found += await _list_accounts(db, scope, contains_text(columns, text))
    accounts = {row.customer_id: row for row in reversed(found)}
    in_order = dict.fromkeys(row.customer_id for row in found)
    return [_build_account(accounts[customer_id]) for customer_id in list(in_order)[:FOUND_MAX]]


async def _list_accounts(
    db: AsyncConnection, scope: TenantScope, condition: sa.ColumnElement[bool]
) -> Sequence[Row]:
    stmt = (
        sa.select(
            _accounts.vendor,
            _accounts.customer_id,
            _accounts.name,
            _accounts.company_id,
            _groups.billinggroup_name,
        )
        .join_from(cloud_accounts, billing_groups, _in_group(cloud_accounts))
        .where(of_tenant(cloud_accounts, scope), *filter_visible_groups(scope), condition)
        .order_by(_accounts.customer_id)
        .limit(FOUND_MAX)
    )
    return (await db.execute(stmt)).all()


def _build_account(row: Row) -> FoundAccount:
    return FoundAccount(
        vendor=row.vendor,
        customer_id=row.customer_id,
        customer_name=row.name,
        company_id=row.company_id,
        billinggroup_name=row.billinggroup_name,
    )


async def find_invoices(
    db: AsyncConnection, scope: TenantScope, named: NamedInvoices
) -> list[FoundInvoice]:
    """The newest months come first."""
    stmt = (
        sa.select(
            _invoices.month,
            _invoices.number,
            _invoices.vendor,
            _invoices.company_id,
            _groups.billinggroup_name,
        )
        .join_from(invoices, billing_groups, _in_group(invoices))
        .where(of_tenant(invoices, scope), *filter_visible_groups(scope))
        .order_by(_invoices.month.desc(), _invoices.number)
        .limit(FOUND_MAX)
    )
    if named.month is not None:
        stmt = stmt.where(_invoices.month == named.month)
    if named.number is not None:
        stmt = stmt.where(_invoices.number == named.number)
    replaced = await find_replaced_invoices(
        db, scope, month=named.month, number=named.number, limit=FOUND_MAX
    )
    return [
        FoundInvoice(
            invoice_no=format_invoice_no(row.month, row.number),
            month=row.month,
            vendor=row.vendor,
            company_id=row.company_id,
            billinggroup_name=row.billinggroup_name,
        )
        for row in [*await db.execute(stmt), *replaced][:FOUND_MAX]
    ]
