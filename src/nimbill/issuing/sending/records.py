"""Queries of the state of an invoice."""

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.invoice_approvals import is_approved
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_group,
    join_revision,
)

_invoices = invoices.c


def _is_invoice(
    scope: TenantScope, period: BillingPeriod, company_id: str
) -> list[sa.ColumnElement[bool]]:
    return [
        of_tenant(invoices, scope),
        of_period(invoices, period),
        _invoices.company_id == company_id,
    ]


async def find_status(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> Row | None:
    """Find what the state consists of; None if the caller cannot see the group."""
    stmt = (
        sa.select(
            _invoices.number,
            _invoices.revision,
            _invoices.sent_time,
            _invoices.sent_by,
            _invoices.publish_time,
            _invoices.cancelled_time,
            _invoices.cancelled_by,
            _invoices.cancel_reason,
            invoice_revisions.c.total,
            is_approved().label("is_approved"),
        )
        .join_from(invoices, billing_groups, join_group())
        .join(invoice_revisions, join_revision(current=True))
        .where(*_is_invoice(scope, period, company_id), *filter_visible_groups(scope))
    )
    return (await db.execute(stmt)).one_or_none()


async def mark_as_sent(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_ids: Collection[str],
    *,
    by: str,
    publish_time: datetime | None = None,
) -> set[str]:
    """Mark those that were not sent yet, and return their groups.

    Customers see them at once, or from `publish_time`.
    """
    stmt = sa.update(invoices).where(
        of_tenant(invoices, scope),
        of_period(invoices, period),
        is_any_of(_invoices.company_id, company_ids),
        _invoices.sent_time.is_(None),
    )
    published = sa.func.greatest(sa.func.now(), publish_time)  # null is ignored
    marked = stmt.values(sent_time=sa.func.now(), sent_by=by, publish_time=published)
    return set((await db.execute(marked.returning(_invoices.company_id))).scalars())


async def publish(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    publish_time: datetime,
) -> None:
    """The database refuses a change that changes nothing."""
    published = sa.func.greatest(sa.func.now(), publish_time)
    stmt = sa.update(invoices).where(
        *_is_invoice(scope, period, company_id), _invoices.publish_time.is_distinct_from(published)
    )
    await db.execute(stmt.values(publish_time=published))


async def cancel(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    *,
    by: str,
    reason: str,
) -> None:
    stmt = sa.update(invoices).where(*_is_invoice(scope, period, company_id))
    values = {"cancelled_time": sa.func.now(), "cancelled_by": by, "cancel_reason": reason}
    await db.execute(stmt.values(values))
