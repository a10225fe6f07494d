"""What each project cost and brought in a month, by the invoices of its billing groups."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.projects.records import list_projects
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.money import Exact, Rounding, difference, rounded, sum_of, total_of
from nimbill.foundation.vendors import BILLED_VENDORS
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import created_of_month
from nimbill.invoicing.profit.bodies import ProjectAmount, ProjectFigures, ProjectOfMonth
from nimbill.invoicing.runs.invoice_list import sales_in, stock_in

__all__ = ["ProjectOfMonth"]  # the file speaks of them too

basis = chosen("project-months")

RATE_PLACES = Decimal("0.0001")
_DIVIDING = Context(prec=100)


async def projects_of_month(
    db: AsyncConnection, scope: TenantScope, month: str
) -> list[ProjectOfMonth]:
    """Every project, by code, with the invoices that the caller may see."""
    invoiced: dict[str, list[InvoiceDocument]] = defaultdict(list)
    for one in await created_of_month(db, scope, month):
        if one.document.project is not None:
            invoiced[one.document.project.project_id].append(one.document)
    return [_project(row, invoiced[row.project_id]) for row in await list_projects(db, scope)]


def _project(row: Row, documents: Sequence[InvoiceDocument]) -> ProjectOfMonth:
    currency = Currency(row.project_currency)
    by_vendor = {
        vendor: figures_of([one for one in documents if one.vendor == vendor], currency)
        for vendor in BILLED_VENDORS
    }
    return ProjectOfMonth(
        project_id=row.project_id,
        project_code=row.project_code,
        project_label=row.project_label,
        project_currency=currency,
        amount=ProjectAmount(
            aws=by_vendor["aws"],
            azure=by_vendor["azure"],
            total=total_figures(list(by_vendor.values())),
        ),
    )


def figures_of(documents: Sequence[InvoiceDocument], currency: Currency) -> ProjectFigures:
    """Added exactly at each invoice's rate, and rounded once."""

    def whole(amounts: Sequence[Exact], into: Currency) -> Decimal:
        return rounded(sum_of(amounts), into, Rounding.half_up)

    return _figures(
        stock=whole([stock_in(one, Currency.usd) for one in documents], Currency.usd),
        sales=whole([sales_in(one, Currency.usd) for one in documents], Currency.usd),
        stock_exchanged=whole([stock_in(one, currency) for one in documents], currency),
        sales_exchanged=whole([sales_in(one, currency) for one in documents], currency),
    )


def total_figures(figures: Sequence[ProjectFigures]) -> ProjectFigures:
    """Of what is shown for each vendor, so that the page foots."""
    return _figures(
        stock=total_of(one.stock for one in figures),
        sales=total_of(one.sales for one in figures),
        stock_exchanged=total_of(one.stock_exchanged for one in figures),
        sales_exchanged=total_of(one.sales_exchanged for one in figures),
    )


def _figures(
    *, stock: Decimal, sales: Decimal, stock_exchanged: Decimal, sales_exchanged: Decimal
) -> ProjectFigures:
    profit = difference(sales, stock)
    profit_exchanged = difference(sales_exchanged, stock_exchanged)
    return ProjectFigures(
        stock=stock,
        sales=sales,
        profit=profit,
        profit_rate=_rate(profit, sales),
        stock_exchanged=stock_exchanged,
        sales_exchanged=sales_exchanged,
        profit_exchanged=profit_exchanged,
        profit_exchanged_rate=_rate(profit_exchanged, sales_exchanged),
    )


def _rate(profit: Decimal, sales: Decimal) -> Decimal | None:
    """Nothing can be said of no sales."""
    if not sales:
        return None
    return _DIVIDING.divide(profit, sales).quantize(RATE_PLACES, ROUND_HALF_UP, _DIVIDING)
