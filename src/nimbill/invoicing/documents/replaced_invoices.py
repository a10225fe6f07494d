"""The table of invoices that were replaced by another one; a row never changes.

An invoice and its replacement have the same month, billing group and vendor. The row of `invoices`
has the number of the newest; the documents of the others stay among its revisions.
"""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
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
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, invoices, join_group

replaced_invoices = sa.Table(
    "replaced_invoices",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),  # the one that was sent
    sa.Column("replacement_number", sa.Integer, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("import_id", sa.Text),  # whose late costs the replacement contains
    sa.Column("sent_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("sent_by", sa.Text, nullable=False),
    sa.Column("replaced_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("replaced_by", sa.Text, nullable=False),
)

_replaced, _invoices = replaced_invoices.c, invoices.c


async def give_new_number(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    number: int,
    *,
    reason: str,
    import_id: str | None,
    by: str,
) -> None:
    """Record that the current invoice is replaced, and give its row the number of the new one.

    The caller holds the lock of the invoice, and stores the document of the new one.
    """
    is_invoice = (
        of_tenant(invoices, scope),
        of_period(invoices, period),
        _invoices.company_id == company_id,
    )
    values = {
        "organisation_id": _invoices.organisation_id,
        "month": _invoices.month,
        "number": _invoices.number,
        "company_id": _invoices.company_id,
        "vendor": _invoices.vendor,
        "revision": _invoices.revision,
        "replacement_number": sa.literal(number),
        "reason": sa.literal(reason),
        "import_id": sa.literal(import_id, sa.Text),
        "sent_time": _invoices.sent_time,
        "sent_by": _invoices.sent_by,
        "replaced_time": sa.func.now(),
        "replaced_by": sa.literal(by),
    }
    await db.execute(
        sa.insert(replaced_invoices).from_select(
            list(values), sa.select(*values.values()).where(*is_invoice)
        )
    )
    await db.execute(
        sa.update(invoices)
        .where(*is_invoice)
        .values(number=number, sent_time=None, sent_by=None, publish_time=None)
    )


async def list_replaced_invoices(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> Sequence[Row]:
    """List the invoices that the current one replaces, the newest first."""
    stmt = (
        sa.select(replaced_invoices)
        .where(
            of_tenant(replaced_invoices, scope),
            of_period(replaced_invoices, period),
            _replaced.company_id == company_id,
        )
        .order_by(_replaced.number.desc())
    )
    return (await db.execute(stmt)).all()


async def list_replaced_of_months(
    db: AsyncConnection, scope: TenantScope, months: Collection[str]
) -> Sequence[Row]:
    """List the replaced invoices of visible groups in these months, the newest number first."""
    stmt = (
        sa.select(replaced_invoices)
        .join_from(replaced_invoices, billing_groups, join_group(replaced_invoices))
        .where(
            of_tenant(replaced_invoices, scope),
            is_any_of(_replaced.month, months),
            *filter_visible_groups(scope),
        )
        .order_by(_replaced.month, _replaced.number.desc())
    )
    return (await db.execute(stmt)).all()


async def load_replaced_numbers(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> dict[str, str]:
    """Map groups to the number of the invoice that their current one replaces directly."""
    stmt = (
        sa.select(_replaced.company_id, sa.func.max(_replaced.number))
        .where(
            of_tenant(replaced_invoices, scope),
            of_period(replaced_invoices, period),
            is_any_of(_replaced.company_id, company_ids),
        )
        .group_by(_replaced.company_id)
    )
    return {
        company_id: format_invoice_no(period.month, number)
        for company_id, number in await db.execute(stmt)
    }


async def load_import_replacements(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> dict[str, str]:
    """Map groups to the import whose late costs made their current revision."""
    stmt = (
        sa.select(_replaced.company_id, _replaced.import_id)
        .join_from(
            replaced_invoices,
            invoices,
            (_invoices.organisation_id == _replaced.organisation_id)
            & (_invoices.month == _replaced.month)
            & (_invoices.number == _replaced.replacement_number),
        )
        .where(
            of_tenant(replaced_invoices, scope),
            of_period(replaced_invoices, period),
            is_any_of(_replaced.company_id, company_ids),
            _replaced.import_id.is_not(None),
            _invoices.revision == _replaced.revision + 1,
        )
    )
    return {row.company_id: row.import_id for row in await db.execute(stmt)}


async def find_replaced_invoices(
    db: AsyncConnection, scope: TenantScope, *, month: str | None, number: int | None, limit: int
) -> Sequence[Row]:
    """Find replaced invoices of visible groups by their numbers, the newest month first."""
    stmt = (
        sa.select(
            _replaced.month,
            _replaced.number,
            _replaced.vendor,
            _replaced.company_id,
            billing_groups.c.billinggroup_name,
        )
        .join_from(replaced_invoices, billing_groups, join_group(replaced_invoices))
        .where(of_tenant(replaced_invoices, scope), *filter_visible_groups(scope))
        .order_by(_replaced.month.desc(), _replaced.number)
        .limit(limit)
    )
    if month is not None:
        stmt = stmt.where(_replaced.month == month)
    if number is not None:
        stmt = stmt.where(_replaced.number == number)
    return (await db.execute(stmt)).all()
