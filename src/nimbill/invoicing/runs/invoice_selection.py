"""Which billing groups a page of the invoice list shows: search, selection and order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import (
    billing_groups,
    filter_visible_groups,
    match_group_text,
    sort_groups,
)
from nimbill.customers.projects.records import projects
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import TenantScope, is_any_of
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import ExactAmount, sum_exact
from nimbill.invoicing.documents.document import InvoiceAmounts, convert_sales

Invoices = Sequence[InvoiceAmounts]
# Columns of invoices; all others are columns of billing groups.
INVOICE_NO, SALES = "invoice_no", "sales"


async def select_invoiced_groups(
    db: AsyncConnection,
    scope: TenantScope,
    query: ListQuery,
    created: Invoices,
    *,
    invoiced: bool | None,
) -> Mapping[str, int]:
    """Map the company_ids on all pages to their position.

    `invoiced` selects the groups that have an invoice, or those that have none.
    """
    is_sorted_by_group = query.sort_column not in (INVOICE_NO, SALES)
    by_company: dict[str, list[InvoiceAmounts]] = defaultdict(list)
    for invoice in created:
        by_company[invoice.company_id].append(invoice)
    stmt = (
        sa.select(billing_groups.c.company_id)
        .join_from(
            billing_groups,
            projects,
            (projects.c.organisation_id == billing_groups.c.organisation_id)
            & (projects.c.project_id == billing_groups.c.project_id),
            isouter=True,
        )
        .where(*filter_visible_groups(scope))
        .order_by(
            *sort_groups(query.sort if is_sorted_by_group else None),
            billing_groups.c.billinggroup_id,
        )
    )
    if query.search is not None:
        numbered = _find_invoice_numbers(created, query.search)
        stmt = stmt.where(
            match_group_text(query.search) | is_any_of(billing_groups.c.company_id, numbered)
        )
    found = list((await db.execute(stmt)).scalars())
    if invoiced is not None:
        found = [company_id for company_id in found if (company_id in by_company) is invoiced]
    if not is_sorted_by_group:
        found = _sort_by_invoice(found, by_company, query)
    return {company_id: position for position, company_id in enumerate(found)}


def _find_invoice_numbers(created: Invoices, search: str) -> list[str]:
    """The groups with an invoice whose number contains the text."""
    return [invoice.company_id for invoice in created if search in invoice.invoice_no]


def _sort_by_invoice(
    company_ids: Sequence[str], invoices: Mapping[str, Invoices], query: ListQuery
) -> list[str]:
    """Groups without an invoice come last, in either direction."""
    with_invoice = [company_id for company_id in company_ids if company_id in invoices]
    others = [company_id for company_id in company_ids if company_id not in invoices]

    def first_number(company_id: str) -> str:
        return min(invoice.invoice_no for invoice in invoices[company_id])

    def sales(company_id: str) -> ExactAmount:
        """In yen, so that amounts of two currencies can be compared."""
        return sum_exact(convert_sales(invoice, Currency.jpy) for invoice in invoices[company_id])

    key = first_number if query.sort_column == INVOICE_NO else sales
    return [*sorted(with_invoice, key=key, reverse=query.is_descending), *others]
