"""All invoices of the visible billing groups, as their heads: numbers, dates and totals."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_revision,
)

_invoices, _revisions = invoices.c, invoice_revisions.c


def _select_dates() -> sa.FromClause:
    """Decode the document once for both dates: decoding takes most of the time of a list."""
    columns = (sa.column("issue_date", sa.Text), sa.column("due_date", sa.Text))
    record = sa.func.json_to_record(sa.cast(_revisions.document, JSON))
    return record.table_valued(*columns, name="dates").render_derived(with_types=True).lateral()


async def list_invoice_heads(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    limit: int | None,
    offset: int,
    conditions: Sequence[sa.ColumnElement[bool]] = (),
) -> Sequence[Row]:
    """List the current invoices, the newest month first.

    Columns: company_id, month, vendor, number, issue_date, due_date, currency, pre_tax, tax, total,
    cancelled_time.
    """
    dates = _select_dates()
    stmt = (
        sa.select(
            _invoices.company_id,
            _invoices.month,
            _invoices.vendor,
            _invoices.number,
            dates.c.issue_date,
            dates.c.due_date,
            _revisions.currency,
            _revisions.pre_tax,
            _revisions.tax,
            _revisions.total,
            _invoices.cancelled_time,
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(
            billing_groups,
            (billing_groups.c.organisation_id == _invoices.organisation_id)
            & (billing_groups.c.company_id == _invoices.company_id),
        )
        .join(dates, sa.true())
        .where(of_tenant(invoices, scope), *filter_visible_groups(scope), *conditions)
        .order_by(_invoices.month.desc(), _invoices.vendor, _invoices.number)
        .limit(limit)
        .offset(offset)
    )
    return (await db.execute(stmt)).all()
