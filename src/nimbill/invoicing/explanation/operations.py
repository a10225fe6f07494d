"""Explains an invoice, or one of its amounts with the days of its costs."""

from collections.abc import Sequence

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.moved_fees import list_moved_fees
from nimbill.costs.months.records import load_month_state
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.foundation.money import strip_zeros, sum_decimals
from nimbill.invoicing.calculation.lines import UsageLine
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.explanation import records
from nimbill.invoicing.explanation.bodies import (
    ExplainedAmount,
    ExplainedPart,
    InvoiceExplanation,
)
from nimbill.invoicing.explanation.explained_amounts import InvoiceExplainer
from nimbill.invoicing.runs.operations import load_revisions


async def explain_invoice(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    line: str | None,
) -> InvoiceExplanation:
    """Explain every amount without its parts, or one amount with them."""
    revisions = await load_revisions(db, scope, period, company_id)
    document = decode_document(revisions[0].document)
    amounts = InvoiceExplainer(document).explain()
    if line is None:
        explained = [msgspec.structs.replace(amount, parts=None) for amount in amounts]
    else:
        explained = [amount for amount in amounts if amount.line == line]
        if not explained:
            refuse_if([Violation("line", "a line of this invoice, such as usage-1 or total")])
        explained = [await _add_days(db, scope, period, document, explained[0])]
    return InvoiceExplanation(
        invoice_no=document.invoice_no,
        revision=document.revision,
        month=document.month,
        vendor=document.vendor,
        company_id=document.company_id,
        currency=document.currency,
        cost_currency=document.cost_currency,
        exchange_rate=document.exchange_rate,
        rounding=document.terms.rounding,
        lines=explained,
    )


async def _add_days(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    document: InvoiceDocument,
    amount: ExplainedAmount,
) -> ExplainedAmount:
    """Split usage into days if the stored sums still add up to what was invoiced.

    They do not after costs were imported again, or if the tag has no sums by day.
    """
    if amount.kind != "usage" or not amount.parts:
        return amount
    line = document.sheet.lines[int(amount.line.partition("-")[2]) - 1]
    parts = [
        *await _list_days(db, scope, period, document, line, amount.parts),
        *await _list_moved_fees(db, scope, period, line, amount.parts),
    ]
    if sum_decimals(part.amount for part in parts) != line.cost:
        return amount
    return msgspec.structs.replace(amount, parts=parts, by_day=True)


async def _list_days(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    document: InvoiceDocument,
    line: UsageLine,
    whole: Sequence[ExplainedPart],
) -> list[ExplainedPart]:
    by_account = {part.customer_id: part for part in whole if part.customer_id is not None}
    rows = await records.list_daily_costs(
        db,
        scope,
        period,
        list(by_account),
        service=line.service,
        marketplace=line.marketplace,
        tag=None if document.tag_key is None else (document.tag_key, line.tag),
    )
    return [
        msgspec.structs.replace(
            by_account[row.customer_id], day=row.day.isoformat(), amount=strip_zeros(row.cost)
        )
        for row in rows
    ]


async def _list_moved_fees(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    line: UsageLine,
    whole: Sequence[ExplainedPart],
) -> list[ExplainedPart]:
    """Fees of moved reservations have no day, and no tag."""
    if line.marketplace or line.tag:
        return []
    by_account = {part.customer_id: part for part in whole}
    state = await load_month_state(db, scope, period)
    return [
        msgspec.structs.replace(
            by_account[fee.customer_id], kind="moved_fee", amount=strip_zeros(fee.amount)
        )
        for fee in await list_moved_fees(db, scope, period, state)
        if fee.customer_id in by_account and fee.service == line.service
    ]
