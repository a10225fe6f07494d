"""Finds the invoices that a caller of the portal may see."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import not_found
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.invoice_history import list_invoice_heads
from nimbill.invoicing.documents.publication import filter_published
from nimbill.invoicing.documents.stored_invoices import (
    StoredInvoice,
    format_invoice_no,
    list_invoices,
)
from nimbill.portal.invoices.bodies import CustomerInvoice, CustomerInvoiceHead, show_invoice
from nimbill.portal.invoices.customer_payments import load_outcomes
from nimbill.portal.view import load_view, require_company, require_unfiltered


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
    conditions = filter_published(await load_settings(db, view.scope))
    rows = await list_invoice_heads(
        db, view.scope, limit=limit, offset=offset, conditions=conditions
    )
    sent = await load_outcomes(db, view.scope, {row.month for row in rows})
    keyed = [((row.month, row.company_id, row.vendor), row) for row in rows]
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
            payment=sent.payments.get(key),
            cancelled=row.cancelled_time is not None,
            state=sent.find_state(key, is_cancelled=row.cancelled_time is not None),
            replaced=sent.replaced.get(key, []),
        )
        for key, row in keyed
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
    return (await _load_stored(db, caller, company_id, month, vendor)).document


async def load_shown_invoice(
    db: AsyncConnection, caller: Caller, company_id: str | None, month: str, vendor: str
) -> CustomerInvoice:
    stored = await _load_stored(db, caller, company_id, month, vendor)
    company = stored.company_id
    own_scope = TenantScope(caller.scope.organisation_id, frozenset({company}))
    sent = await load_outcomes(db, own_scope, {month})
    key = (month, company, vendor)
    return show_invoice(
        stored.document,
        sent.payments.get(key),
        sent.find_state(key, is_cancelled=stored.is_cancelled),
        sent.replaced.get(key, []),
    )


async def _load_stored(
    db: AsyncConnection, caller: Caller, company_id: str | None, month: str, vendor: str
) -> StoredInvoice[InvoiceDocument]:
    scope, company = await require_one_company(db, caller, company_id)
    conditions = filter_published(await load_settings(db, scope))
    found = await list_invoices(
        db, scope, month, vendor=vendor, company_ids=[company], conditions=conditions
    )
    if not found:
        raise not_found()
    return found[0]
