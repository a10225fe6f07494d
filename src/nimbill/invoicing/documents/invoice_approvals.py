"""Which revisions of invoices a second person has approved. A new revision has no approval."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_group,
    join_revision,
)

invoice_approvals = sa.Table(
    "invoice_approvals",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("approval_id", sa.Text, nullable=False),
    sa.Column("approve_time", sa.DateTime(timezone=True), nullable=False),
)
_approvals, _invoices = invoice_approvals.c, invoices.c


def is_approved() -> sa.ColumnElement[bool]:
    """Whether the current revision of a row of `invoices` was approved."""
    return sa.exists().where(
        _approvals.organisation_id == _invoices.organisation_id,
        _approvals.month == _invoices.month,
        _approvals.company_id == _invoices.company_id,
        _approvals.vendor == _invoices.vendor,
        _approvals.revision == _invoices.revision,
    )


async def list_unapproved_groups(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> list[str]:
    """List those of the groups whose invoice was neither sent nor approved."""
    stmt = (
        sa.select(_invoices.company_id)
        .where(
            of_tenant(invoices, scope),
            of_period(invoices, period),
            is_any_of(_invoices.company_id, company_ids),
            _invoices.sent_time.is_(None),
            sa.not_(is_approved()),
        )
        .order_by(_invoices.number)
    )
    return list((await db.execute(stmt)).scalars())


async def list_reviewed_invoices(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> Sequence[Row]:
    """List the current revisions of visible groups, by number."""
    stmt = (
        sa.select(
            _invoices.company_id,
            _invoices.number,
            _invoices.revision,
            _invoices.sent_time,
            _invoices.cancelled_time,
            billing_groups.c.billinggroup_id,
            billing_groups.c.billinggroup_name,
            invoice_revisions.c.currency,
            invoice_revisions.c.pre_tax,
            invoice_revisions.c.tax,
            invoice_revisions.c.total,
            invoice_revisions.c.due_date,
            invoice_revisions.c.document,
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(billing_groups, join_group())
        .where(
            of_tenant(invoices, scope),
            of_period(invoices, period),
            is_any_of(_invoices.company_id, company_ids),
            *filter_visible_groups(scope),
        )
        .order_by(_invoices.number)
    )
    return (await db.execute(stmt)).all()


async def add_invoice_approvals(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    revisions: Collection[tuple[str, int]],
    approval_id: str,
) -> None:
    """`revisions` are pairs of company_id and revision. An earlier approval stays."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "month": period.month,
            "company_id": company_id,
            "vendor": period.vendor,
            "revision": revision,
            "approval_id": approval_id,
        }
        for company_id, revision in revisions
    ]
    await db.execute(insert(invoice_approvals).on_conflict_do_nothing(), rows)
