"""The invoices that a run created, with the numbers that it gave them."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.invoicing.documents.replaced_invoices import replaced_invoices
from nimbill.invoicing.documents.stored_invoices import invoice_revisions, invoices, join_revision

_invoices, _revisions, _replaced = invoices.c, invoice_revisions.c, replaced_invoices.c


async def list_run_invoices(db: AsyncConnection, scope: TenantScope, run_id: str) -> Sequence[Row]:
    """List the invoices created by a run, by number: whose they are, and their warnings.

    The row of `invoices` has the number of the newest invoice. A revision belongs to the first
    replaced invoice that was sent with this revision or a later one, if there is one.
    """
    replaced_number = (
        sa.select(sa.func.min(_replaced.number))
        .where(
            _replaced.organisation_id == _revisions.organisation_id,
            _replaced.month == _revisions.month,
            _replaced.company_id == _revisions.company_id,
            _replaced.vendor == _revisions.vendor,
            _replaced.revision >= _revisions.revision,
        )
        .scalar_subquery()
    )
    number = sa.func.coalesce(replaced_number, _invoices.number).label("number")
    stmt = (
        sa.select(
            _revisions.company_id,
            _revisions.vendor,
            _revisions.month,
            number,
            _revisions.warnings,
        )
        .join_from(invoice_revisions, invoices, join_revision(current=False))
        .where(of_tenant(invoice_revisions, scope), _revisions.run_id == run_id)
        .order_by(number)
    )
    return (await db.execute(stmt)).all()
