"""Loads the short invoice list, and compares an invoice with that of an earlier month."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.overview import records
from nimbill.closing.overview.bodies import (
    CurrencyTotal,
    InvoiceComparison,
    MonthSummary,
    RevisionComparison,
    ShortInvoice,
)
from nimbill.closing.overview.compared_amounts import RATE_UNIT, compare_invoices
from nimbill.closing.overview.compared_revisions import compare_revisions
from nimbill.costs.months.records import load_month_state
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import divide_decimals
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import InvoiceWarningCode, decode_document
from nimbill.invoicing.documents.invoice_state import InvoiceState, find_state
from nimbill.invoicing.runs.operations import load_revisions


async def load_summary(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    search: str | None,
    invoiced: bool | None,
    sort: str,
    limit: int | None,
    offset: int,
) -> MonthSummary:
    selection = records.Selection(period, search, invoiced)
    sums = await records.sum_by_currency(db, scope, selection)
    rows = await records.list_page(db, scope, selection, sort=sort, limit=limit, offset=offset)
    closed = (await load_month_state(db, scope, period)).closed
    return MonthSummary(
        month=period.month,
        vendor=period.vendor,
        closed=closed,
        count=sum(row.groups for row in sums),
        totals=[_build_total(row) for row in sums if row.currency is not None],
        invoices=[_build_invoice(period.month, row, closed=closed) for row in rows],
    )


def _build_total(row: Row) -> CurrencyTotal:
    return CurrencyTotal(
        currency=Currency(row.currency),
        invoices=row.groups,
        pre_tax=row.pre_tax,
        tax=row.tax,
        total=row.total,
    )


def _build_invoice(month: str, row: Row, *, closed: bool) -> ShortInvoice:
    exists = row.number is not None
    return ShortInvoice(
        company_id=row.company_id,
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        company_name=row.company_name,
        invoice_no=stored_invoices.format_invoice_no(month, row.number) if exists else None,
        revision=row.revision,
        state=_find_state(row) if exists else None,
        currency=Currency(row.currency) if exists else None,
        issue_date=row.issue_date,
        due_date=row.due_date,
        pre_tax=row.pre_tax,
        taxable=row.taxable,
        tax_rate=row.tax_rate,
        tax=row.tax,
        total=row.total,
        total_before=row.total_before,
        change=row.change,
        change_rate=divide_decimals(row.change, row.total_before, RATE_UNIT)
        if row.total_before
        else None,
        warnings=[InvoiceWarningCode(code) for code in row.warnings or ()],
        create_time=clock.format_timestamp(row.create_time) if exists else None,
        outdated=bool(row.outdated) and not closed,
    )


def _find_state(row: Row) -> InvoiceState:
    return find_state(
        row.sent_time,
        row.cancelled_time,
        is_approved=row.is_approved,
        total=row.total,
        credited=row.credited,
    )


async def compare_with_month(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    month_before: str,
) -> InvoiceComparison:
    revisions = await load_revisions(db, scope, period, company_id)
    earlier = await stored_invoices.list_revisions(
        db, scope, BillingPeriod(month_before, period.vendor), company_id
    )
    return compare_invoices(
        decode_document(revisions[0].document),
        decode_document(earlier[0].document) if earlier else None,
        month_before,
    )


async def compare_with_revision(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    revision: int,
    before: int,
) -> RevisionComparison:
    """Compare two revisions; `before` is 0 to compare the first one with nothing."""
    (row,) = await load_revisions(db, scope, period, company_id, revision=revision)
    earlier = None
    if before:
        (row_before,) = await load_revisions(db, scope, period, company_id, revision=before)
        earlier = decode_document(row_before.document)
    return compare_revisions(decode_document(row.document), earlier)
