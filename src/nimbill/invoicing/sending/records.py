"""Queries of the state of an invoice."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.stored_invoices import invoices, join_group

basis = chosen("sent-invoices")

_invoices = invoices.c


def _is_invoice(
    scope: TenantScope, period: BillingPeriod, company_id: str
) -> list[sa.ColumnElement[bool]]:
    return [
        _invoices.organisation_id == scope.organisation_id,
        _invoices.month == period.month,
        _invoices.vendor == period.vendor,
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
            _invoices.cancelled_time,
            _invoices.cancelled_by,
            _invoices.cancel_reason,
        )
        .join_from(invoices, billing_groups, join_group())
        .where(*_is_invoice(scope, period, company_id), *filter_visible_groups(scope))
    )
    return (await db.execute(stmt)).one_or_none()


async def mark_as_sent(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str, *, by: str
) -> None:
    stmt = sa.update(invoices).where(*_is_invoice(scope, period, company_id))
    await db.execute(stmt.values(sent_time=sa.func.now(), sent_by=by))


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
