"""What the approver of a replaced or cancelled invoice sees of it."""

from collections import defaultdict
from decimal import Decimal
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.credit_notes.document import list_creditable_amounts
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import add_decimals
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.documents.replaced_invoices import list_replaced_invoices
from nimbill.invoicing.documents.stored_invoices import list_revisions

# given when the new invoice is stored
_GIVEN_LATER = ("invoice_no", "issue_date", "due_date")
ZERO = Decimal(0)


async def review_replacement(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str, reason: str
) -> dict[str, Any]:
    """Compare the newest replaced invoice with the one in its place, both already stored."""
    replaced = (await list_replaced_invoices(db, scope, period, company_id))[0]
    invoice = await _load_document(db, scope, period, company_id, replaced.revision)
    replacement = await _load_document(db, scope, period, company_id, replaced.revision + 1)
    return _describe(invoice, "replacement", reason) | {
        "changes": [
            {"field": name, "before": before, "after": after}
            for name, before, after in _compare(invoice, replacement)
            if before != after
        ],
        "digest": hash_document(replacement),
    }


async def review_cancellation(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str, reason: str
) -> dict[str, Any]:
    document = (await list_revisions(db, scope, period, company_id))[0].document
    return _describe(decode_document(document), "cancellation", reason)


def _describe(invoice: InvoiceDocument, operation: str, reason: str) -> dict[str, Any]:
    return {
        "operation": operation,
        "invoice_no": invoice.invoice_no,
        "revision": invoice.revision,
        "month": invoice.month,
        "vendor": invoice.vendor,
        "company_id": invoice.company_id,
        "billinggroup_name": invoice.billinggroup_name,
        "currency": invoice.currency,
        "total": invoice.sheet.total,
        "reason": reason,
    }


async def _load_document(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str, revision: int
) -> InvoiceDocument:
    (row,) = await list_revisions(db, scope, period, company_id, revision=revision)
    return decode_document(row.document)


def _compare(
    invoice: InvoiceDocument, replacement: InvoiceDocument
) -> list[tuple[str, object, object]]:
    """List the sums and each printed amount of both; the caller leaves out equal ones."""
    before, after = _sum_amounts(invoice), _sum_amounts(replacement)
    sums = [
        (name, getattr(invoice.sheet, name), getattr(replacement.sheet, name))
        for name in ("total", "pre_tax", "tax")
    ]
    amounts = [
        (name, before.get(name, ZERO), after.get(name, ZERO)) for name in {**before, **after}
    ]
    return [("currency", invoice.currency, replacement.currency), *sums, *amounts]


def _sum_amounts(invoice: InvoiceDocument) -> dict[str, Decimal]:
    amounts: defaultdict[str, Decimal] = defaultdict(Decimal)
    for each in list_creditable_amounts(invoice).values():
        amounts[each.description] = add_decimals(amounts[each.description], each.amount)
    return dict(amounts)


def hash_document(document: InvoiceDocument) -> str:
    """Bind the approval to everything on the new invoice, also to what is not an amount.

    The database returns usage in any order.
    """
    charges = document.charges
    usage = tuple(sorted(charges.usage, key=exact_json.encode))
    ordered = msgspec.structs.replace(
        document, charges=msgspec.structs.replace(charges, usage=usage)
    )
    content = {
        name: value
        for name, value in msgspec.structs.asdict(ordered).items()
        if name not in _GIVEN_LATER
    }
    return sha256(exact_json.encode(content)).hexdigest()
