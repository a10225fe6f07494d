"""Nets the correction of an invoice on an invoice of an open month, as an applied entry."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import add_correction
from nimbill.corrections.drift import group_records
from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import lock_month
from nimbill.credit_notes.corrected_invoices import records
from nimbill.credit_notes.operations import load_notes_of_invoice
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict
from nimbill.foundation.ids import derive_id
from nimbill.foundation.language import Language
from nimbill.foundation.money import subtract_decimals, sum_decimals
from nimbill.invoicing.documents.document import InvoiceDocument


async def add_correction_entry(
    db: AsyncConnection,
    scope: TenantScope,
    invoice: InvoiceDocument,
    corrected: InvoiceDocument,
    *,
    import_id: str,
    month: str,
) -> dict[str, Any]:
    """Add the entry to an open month; return what the decision records of it.

    The entry has the difference before tax in the currency of the invoice: discount and fees are
    contained in it, and the tax is that of the invoice on which it is printed.
    """
    period = BillingPeriod(month, invoice.vendor)
    if month <= invoice.month:
        raise Conflict(
            "month_before_entry", "An entry cannot be applied to a month before its own."
        )
    MonthChange.decide_drift.refuse_if_closed(await lock_month(db, scope, period, shared=True))
    notes = await load_notes_of_invoice(db, scope, invoice)
    netted = records.sum_entries(await records.list_applied_decisions(db, scope, invoice))
    settled = subtract_decimals(invoice.sheet.pre_tax, sum_decimals(note.pre_tax for note in notes))
    amount = subtract_decimals(corrected.sheet.pre_tax, settled)
    if netted is not None:
        amount = subtract_decimals(amount, netted)
    if not amount:
        raise Conflict("nothing_to_correct", "The late costs do not change the invoice.")
    if await group_records.find_tax_rate(db, scope, period, invoice.company_id) not in (
        None,
        invoice.sheet.tax_rate,
    ):
        raise Conflict(
            "other_tax_rate",
            "The month of the entry has another tax rate than the invoice. Issue a credit note or "
            "replace the invoice.",
        )
    entry_id = derive_id("rce", scope.organisation_id, "drift", import_id, invoice.company_id)
    await add_correction(
        db,
        scope,
        period,
        entry_id=entry_id,
        customer_id=await _choose_account(db, scope, corrected),
        description=_describe(invoice),
        currency_code=invoice.currency.value.upper(),
        amount=amount,
        exchange_rate=invoice.exchange_rate,
    )
    return {"entry_id": entry_id, "entry_month": month, "pre_tax": amount}


async def _choose_account(
    db: AsyncConnection, scope: TenantScope, corrected: InvoiceDocument
) -> str:
    """Every entry belongs to an account: the first of the late costs that is still in the group."""
    accounts = await group_records.list_accounts(db, scope, corrected.vendor, corrected.company_id)
    if not accounts:
        raise Conflict("no_accounts", "The billing group has no account any more.")
    late = {cost.customer_id for cost in corrected.late_costs}
    return min((account for account in accounts if account in late), default=accounts[0])


def _describe(invoice: InvoiceDocument) -> str:
    if invoice.language is Language.ja:
        return f"{invoice.month}分請求書（{invoice.invoice_no}）の訂正"
    return f"Correction of invoice {invoice.invoice_no} for {invoice.month}"
