"""The invoices of a billing group over the last months, with the vendor's cost and the margin."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.profit.bodies import CustomerHistory, CustomerMonth
from nimbill.closing.profit.profit_rate import calculate_rate
from nimbill.costs.months.records import month_states
from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.foundation import clock
from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.errors import not_found
from nimbill.foundation.money import subtract_decimals
from nimbill.invoicing.documents.stored_invoices import (
    format_invoice_no,
    invoice_revisions,
    invoices,
    join_revision,
)

_invoices, _revisions, _states = invoices.c, invoice_revisions.c, month_states.c


async def load_customer_history(
    db: AsyncConnection, scope: TenantScope, company_id: str, months: int
) -> CustomerHistory:
    """The months end with the newest one that has an invoice of the group."""
    stmt = sa.select(billing_groups.c.billinggroup_id, billing_groups.c.billinggroup_name).where(
        *filter_visible_groups(scope), billing_groups.c.company_id == company_id
    )
    group = (await db.execute(stmt)).one_or_none()
    if group is None:
        raise not_found()
    rows = await _list_invoices(db, scope, company_id)
    first = add_months(rows[0].month, 1 - months) if rows else ""
    return CustomerHistory(
        company_id=company_id,
        billinggroup_id=group.billinggroup_id,
        billinggroup_name=group.billinggroup_name,
        months=[_build_month(row) for row in rows if row.month >= first],
    )


async def _list_invoices(db: AsyncConnection, scope: TenantScope, company_id: str) -> Sequence[Row]:
    """The current invoices of the group that are not cancelled, the newest month first."""
    same_month = sa.and_(
        _states.organisation_id == _invoices.organisation_id,
        _states.month == _invoices.month,
        _states.vendor == _invoices.vendor,
    )
    stmt = (
        sa.select(
            _invoices.month,
            _invoices.vendor,
            _invoices.number,
            _invoices.revision,
            _invoices.update_time,
            _revisions.currency,
            _revisions.exchange_rate,
            _revisions.pre_tax,
            _revisions.tax,
            _revisions.total,
            _revisions.vendor_cost,
            sa.func.coalesce(_states.closed, False).label("closed"),
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(month_states, same_month, isouter=True)
        .where(
            of_tenant(invoices, scope),
            _invoices.company_id == company_id,
            _invoices.cancelled_time.is_(None),
        )
        .order_by(_invoices.month.desc(), _invoices.vendor)
    )
    return (await db.execute(stmt)).all()


def _build_month(row: Row) -> CustomerMonth:
    margin = subtract_decimals(row.pre_tax, row.vendor_cost)
    return CustomerMonth(
        month=row.month,
        vendor=row.vendor,
        invoice_no=format_invoice_no(row.month, row.number),
        revision=row.revision,
        state="closed" if row.closed else "open",
        create_time=clock.format_timestamp(row.update_time),
        currency=row.currency,
        exchange_rate=row.exchange_rate,
        pre_tax=row.pre_tax,
        tax=row.tax,
        total=row.total,
        vendor_cost=row.vendor_cost,
        margin=margin,
        margin_rate=calculate_rate(margin, row.pre_tax),
    )
