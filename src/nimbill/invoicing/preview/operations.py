"""Calculates a month's invoice under the saved terms and under other ones."""

from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.operations import (
    InvoiceSettingUpdate,
    check_invoice_setting,
)
from nimbill.customers.billing_groups.records import is_billing_group_visible
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import not_found
from nimbill.foundation.money import subtract_decimals
from nimbill.invoicing.calculation.lines import Fee
from nimbill.invoicing.calculation.sheet import InvoiceSheet
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents.document import InvoiceDocument, round_vendor_cost
from nimbill.invoicing.preview.bodies import TermsDifference, TermsPreview
from nimbill.invoicing.runs.build_invoice import build_invoice
from nimbill.invoicing.runs.invoice_inputs import InvoiceInputs, MonthContext, load_invoice_inputs
from nimbill.invoicing.runs.invoice_run import load_batch
from nimbill.invoicing.runs.operations import refuse_if_missing


async def preview_terms(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str,
    month: str,
    body: InvoiceSettingUpdate,
) -> TermsPreview:
    """Refuse what saving the terms would refuse, and a month that cannot be invoiced."""
    if not await is_billing_group_visible(db, scope, company_id):
        raise not_found()
    targets = await check_invoice_setting(db, scope, company_id, body)
    period = BillingPeriod(month, body.vendor)
    batch = await load_batch(db, scope, period, [company_id])
    other = await load_invoice_inputs(
        db, scope, period, batch.context, [company_id], {company_id: (body.invoices, targets)}
    )
    current = _calculate(batch.inputs[company_id], batch.context, period)
    preview = _calculate(other[company_id], batch.context, period)
    vendor_cost = round_vendor_cost(preview)
    return TermsPreview(
        company_id=company_id,
        month=month,
        vendor=body.vendor,
        exchange_rate=current.exchange_rate,
        current=current.sheet,
        preview=preview.sheet,
        vendor_cost=vendor_cost,
        margin=subtract_decimals(preview.sheet.pre_tax, vendor_cost),
        current_margin=subtract_decimals(current.sheet.pre_tax, round_vendor_cost(current)),
        difference=find_difference(current.sheet, preview.sheet),
    )


def _calculate(
    inputs: InvoiceInputs, context: MonthContext, period: BillingPeriod
) -> InvoiceDocument:
    try:
        return build_invoice(inputs, context.settings, period, clock.now())
    except CannotBeBilled as refusal:
        refuse_if_missing({inputs.group.company_id: refusal.reason})
        raise


def find_difference(current: InvoiceSheet, preview: InvoiceSheet) -> TermsDifference | None:
    """Subtract printed amounts; amounts in two currencies cannot be subtracted."""
    if current.currency is not preview.currency:
        return None
    return TermsDifference(
        usage_charge=subtract_decimals(preview.usage_charge, current.usage_charge),
        usage_after=subtract_decimals(preview.usage_after, current.usage_after),
        support=subtract_decimals(_read_fee(preview.support), _read_fee(current.support)),
        agency=subtract_decimals(_read_fee(preview.agency), _read_fee(current.agency)),
        pre_tax=subtract_decimals(preview.pre_tax, current.pre_tax),
        tax=subtract_decimals(preview.tax, current.tax),
        total=subtract_decimals(preview.total, current.total),
    )


def _read_fee(fee: Fee | None) -> Decimal:
    return Decimal(0) if fee is None else fee.after
