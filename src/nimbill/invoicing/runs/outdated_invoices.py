"""Invoices that creating them again would change, because of what was saved since."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.free_format_records import free_format_items
from nimbill.database.tenant_scope import TenantScope, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.document import COMPARED_ITEM_FIELDS
from nimbill.invoicing.documents.stored_invoices import invoice_revisions, invoices, join_revision
from nimbill.invoicing.runs.month_settings import (
    FEE_TARGET_COLUMNS,
    SETTING_FIELDS,
    monthly_invoice_settings,
)

# See docs/choices.md, outdated-invoices.

_invoices, _revisions = invoices.c, invoice_revisions.c
_saved, _items = monthly_invoice_settings.c, free_format_items.c


def _build_object(columns: dict[str, sa.ColumnElement[Any]]) -> sa.ColumnElement[Any]:
    pairs = [
        part
        for name, column in columns.items()
        for part in (sa.literal_column(f"'{name}'"), column)
    ]
    return sa.func.jsonb_build_object(*pairs, type_=JSONB)


def _list_items() -> sa.ColumnElement[Any]:
    """The enabled items of the group, in the order in which an invoice prints them."""
    item = _build_object({name: _items[name] for name in COMPARED_ITEM_FIELDS})
    listed = sa.func.jsonb_agg(aggregate_order_by(item, _items.position), type_=JSONB)
    return (
        sa.select(sa.func.coalesce(listed, sa.literal_column("'[]'::jsonb")))
        .where(
            _items.organisation_id == _saved.organisation_id,
            _items.company_id == _saved.company_id,
            _items.vendor == _saved.vendor,
            _items.enabled,
        )
        .correlate(monthly_invoice_settings)
        .scalar_subquery()
    )


def join_saved_settings() -> sa.ColumnElement[bool]:
    """Join an invoice with what is saved for it now."""
    return sa.and_(
        _saved.organisation_id == _invoices.organisation_id,
        _saved.month == _invoices.month,
        _saved.vendor == _invoices.vendor,
        _saved.company_id == _invoices.company_id,
    )


def is_outdated() -> sa.ColumnElement[bool]:
    """Whether a revision was calculated from other values than those that are saved now.

    Saving the same values again makes no difference: jsonb compares numbers by value. An invoice
    that was sent stays as it is.
    """
    names = (*SETTING_FIELDS, *FEE_TARGET_COLUMNS, "exchange_rate", "memo")
    current = _build_object({name: _saved[name] for name in names} | {"items": _list_items()})
    return _invoices.sent_time.is_(None) & (_revisions.saved_inputs != current)


async def list_outdated_groups(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[str]:
    """List the groups whose current invoice is outdated, with one statement for all of them."""
    stmt = (
        sa.select(_invoices.company_id)
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(monthly_invoice_settings, join_saved_settings())
        .where(of_tenant(invoices, scope), of_period(invoices, period), is_outdated())
        .order_by(_invoices.company_id)
    )
    return list((await db.execute(stmt)).scalars())
