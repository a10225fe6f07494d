"""Queries on the customers of late costs: their groups, their invoices, the terms of a month."""

from collections.abc import Collection, Sequence
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.invoice_setting_records import invoice_settings
from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.documents.stored_invoices import (
    invoices,
    list_revisions,
)
from nimbill.invoicing.runs.month_settings import monthly_invoice_settings


async def list_groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str]
) -> Sequence[Row]:
    columns = (billing_groups.c[name] for name in ("company_id", "billinggroup_id"))
    stmt = (
        sa.select(*columns, billing_groups.c.billinggroup_name)
        .where(
            of_tenant(billing_groups, scope), is_any_of(billing_groups.c.company_id, company_ids)
        )
        .order_by(billing_groups.c.billinggroup_id, billing_groups.c.company_id)
    )
    return (await db.execute(stmt)).all()


async def load_owed_invoice(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> InvoiceDocument:
    """Return the current invoice, sent or not; refuse a cancelled one."""
    revisions = await list_revisions(db, scope, period, company_id)
    if not revisions:
        raise not_found()
    stmt = sa.select(invoices.c.cancelled_time).where(
        of_tenant(invoices, scope), of_period(invoices, period), invoices.c.company_id == company_id
    )
    if (await db.execute(stmt)).scalar_one() is not None:
        raise Conflict("invoice_cancelled", "The invoice is cancelled; nothing of it is owed.")
    return decode_document(revisions[0].document)


async def list_accounts(
    db: AsyncConnection, scope: TenantScope, vendor: str, company_id: str
) -> list[str]:
    stmt = (
        sa.select(cloud_accounts.c.customer_id)
        .where(
            of_tenant(cloud_accounts, scope),
            cloud_accounts.c.vendor == vendor,
            cloud_accounts.c.company_id == company_id,
        )
        .order_by(cloud_accounts.c.customer_id)
    )
    return list((await db.execute(stmt)).scalars())


async def find_tax_rate(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> Decimal | None:
    """The tax rate of a month's terms, or of the group's own terms if none are saved for it."""
    for table, conditions in (
        (monthly_invoice_settings, [monthly_invoice_settings.c.month == period.month]),
        (invoice_settings, []),
    ):
        stmt = sa.select(table.c.tax_rate).where(
            of_tenant(table, scope),
            table.c.company_id == company_id,
            table.c.vendor == period.vendor,
            *conditions,
        )
        rate: Decimal | None = (await db.execute(stmt)).scalar_one_or_none()
        if rate is not None:
            return rate
    return None
