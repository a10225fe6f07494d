"""Finds the invoices that a caller of the portal may see."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import not_found
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.invoice_history import list_invoice_heads
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, list_invoices
from nimbill.portal.invoices.bodies import CustomerInvoiceHead
from nimbill.portal.view import load_view, require_company, require_unfiltered

basis = chosen("portal-invoices")


async def list_heads(
    db: AsyncConnection,
    caller: Caller,
    company_id: str | None,
    *,
    limit: int | None,
    offset: int,
) -> list[CustomerInvoiceHead]:
    view = await load_view(db, caller, company_id)
    require_unfiltered(view)
    return [
        CustomerInvoiceHead(
            company_id=row.company_id,
            month=row.month,
            vendor=row.vendor,
            invoice_no=format_invoice_no(row.month, row.number),
            issue_date=row.issue_date,
            due_date=row.due_date,
            currency=Currency(row.currency),
            pre_tax=row.pre_tax,
            tax=row.tax,
            total=row.total,
        )
        for row in await list_invoice_heads(db, view.scope, limit=limit, offset=offset)
    ]


async def require_one_company(
    db: AsyncConnection, caller: Caller, company_id: str | None
) -> tuple[TenantScope, str]:
    """Return the scope and the company whose invoices the caller may see as a whole."""
    view = await load_view(db, caller, company_id)
    require_unfiltered(view)
    return view.scope, require_company(view.scope)


async def load_invoice(
    db: AsyncConnection, caller: Caller, company_id: str | None, month: str, vendor: str
) -> InvoiceDocument:
    scope, company = await require_one_company(db, caller, company_id)
    found = await list_invoices(db, scope, month, vendor=vendor, company_ids=[company])
    if not found:
        raise not_found()
    return found[0].document
