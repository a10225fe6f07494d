"""Lists billing groups by what became of their invoices."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.stored_invoices import invoices, join_group

_invoices = invoices.c


async def list_sent_groups(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> list[str]:
    """List those of the groups whose invoice was sent."""
    stmt = sa.select(_invoices.company_id).where(
        of_tenant(invoices, scope),
        of_period(invoices, period),
        _invoices.sent_time.is_not(None),
        is_any_of(_invoices.company_id, company_ids),
    )
    return list((await db.execute(stmt)).scalars())


async def find_last_sent(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Row | None:
    """Find who sent an invoice of the period last, and when."""
    stmt = (
        sa.select(_invoices.sent_by, _invoices.sent_time)
        .where(
            of_tenant(invoices, scope),
            of_period(invoices, period),
            _invoices.sent_time.is_not(None),
        )
        .order_by(_invoices.sent_time.desc())
        .limit(1)
    )
    return (await db.execute(stmt)).one_or_none()


async def list_invoiced_groups(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str | None
) -> list[str]:
    """List visible groups that have an invoice, by their lowest invoice number."""
    stmt = (
        sa.select(_invoices.company_id)
        .join_from(invoices, billing_groups, join_group())
        .where(of_tenant(invoices, scope), _invoices.month == month, *filter_visible_groups(scope))
        .group_by(_invoices.company_id)
        .order_by(sa.func.min(_invoices.number))
    )
    if vendor is not None:
        stmt = stmt.where(_invoices.vendor == vendor)
    return list((await db.execute(stmt)).scalars())
