"""Vendor cost, sales and profit of each project in a month, from its billing groups' invoices."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.profit.bodies import ProjectAmount, ProjectFigures, ProjectProfit
from nimbill.closing.profit.profit_rate import calculate_rate
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.customers.projects.records import list_projects
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    ExactAmount,
    Rounding,
    round_amount,
    subtract_decimals,
    sum_decimals,
    sum_exact,
)
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.invoicing.documents.document import (
    InvoiceDocument,
    convert_sales,
    convert_vendor_cost,
)
from nimbill.invoicing.documents.stored_invoices import list_invoices

__all__ = ["ProjectProfit"]  # also used by the CSV export


async def list_project_profits(
    db: AsyncConnection, scope: TenantScope, month: str
) -> list[ProjectProfit]:
    """List every project by code; amounts cover the invoices that the caller may see."""
    documents: dict[str, list[InvoiceDocument]] = defaultdict(list)
    for invoice in await list_invoices(db, scope, month, with_cancelled=False):
        project = invoice.document.project
        if project is not None:
            documents[project.project_id].append(invoice.document)
    vendors = await load_vendors(db, scope)
    return [
        _build_project(row, documents[row.project_id], vendors)
        for row in (await list_projects(db, scope)).rows
    ]


def _build_project(
    row: Row, documents: Sequence[InvoiceDocument], vendors: Sequence[str]
) -> ProjectProfit:
    currency = Currency(row.project_currency)
    by_vendor = {
        vendor: calculate_figures(
            [document for document in documents if document.vendor == vendor], currency
        )
        for vendor in (*BILLED_VENDORS, *vendors)
    }
    return ProjectProfit(
        project_id=row.project_id,
        project_code=row.project_code,
        project_label=row.project_label,
        project_currency=currency,
        amount=ProjectAmount(
            aws=by_vendor["aws"],
            azure=by_vendor["azure"],
            other_vendors={
                vendor: figures
                for vendor, figures in by_vendor.items()
                if vendor not in BILLED_VENDORS
            },
            total=sum_figures(list(by_vendor.values())),
        ),
    )


def calculate_figures(documents: Sequence[InvoiceDocument], currency: Currency) -> ProjectFigures:
    """Add up exactly at each invoice's rate and round once."""

    def total(amounts: Sequence[ExactAmount], target: Currency) -> Decimal:
        return round_amount(sum_exact(amounts), target, Rounding.half_up)

    return _build_figures(
        stock=total(
            [convert_vendor_cost(document, Currency.usd) for document in documents], Currency.usd
        ),
        sales=total(
            [convert_sales(document, Currency.usd) for document in documents], Currency.usd
        ),
        stock_exchanged=total(
            [convert_vendor_cost(document, currency) for document in documents], currency
        ),
        sales_exchanged=total(
            [convert_sales(document, currency) for document in documents], currency
        ),
    )


def sum_figures(figures: Sequence[ProjectFigures]) -> ProjectFigures:
    """Add the rounded amounts of the vendors, so that the printed column adds up."""
    return _build_figures(
        stock=sum_decimals(figures_item.stock for figures_item in figures),
        sales=sum_decimals(figures_item.sales for figures_item in figures),
        stock_exchanged=sum_decimals(figures_item.stock_exchanged for figures_item in figures),
        sales_exchanged=sum_decimals(figures_item.sales_exchanged for figures_item in figures),
    )


def _build_figures(
    *, stock: Decimal, sales: Decimal, stock_exchanged: Decimal, sales_exchanged: Decimal
) -> ProjectFigures:
    profit = subtract_decimals(sales, stock)
    profit_exchanged = subtract_decimals(sales_exchanged, stock_exchanged)
    return ProjectFigures(
        stock=stock,
        sales=sales,
        profit=profit,
        profit_rate=calculate_rate(profit, sales),
        stock_exchanged=stock_exchanged,
        sales_exchanged=sales_exchanged,
        profit_exchanged=profit_exchanged,
        profit_exchanged_rate=calculate_rate(profit_exchanged, sales_exchanged),
    )
