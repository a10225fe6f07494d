"""The project file: vendor cost, sales and profit per vendor."""

from collections.abc import Iterable, Iterator

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.request_context import Resources
from nimbill.closing.profit.project_profits import ProjectProfit, list_project_profits
from nimbill.invoicing.exports.csv_file import Cell, encode_csv
from nimbill.invoicing.exports.operations import store_file

HEADER = (
    "ProjectCode",
    "ProjectLabel",
    "ProjectCurrency",
    "Vendor",
    "Stock",
    "Sales",
    "Profit",
    "ProfitRate",
    "StockExchanged",
    "SalesExchanged",
    "ProfitExchanged",
    "ProfitExchangedRate",
)


async def export_projects(
    db: AsyncConnection, caller: Caller, resources: Resources, month: str
) -> str:
    """Store the file of a month and return a link to it."""
    projects = await list_project_profits(db, caller.scope, month)
    content = encode_csv(HEADER, build_project_rows(projects))
    return await store_file(db, caller, resources, "project", month, content)


def build_project_rows(projects: Iterable[ProjectProfit]) -> Iterator[tuple[Cell, ...]]:
    """One row per project and vendor, and one for the total; an undefined rate is empty."""
    for project in projects:
        amount = project.amount
        by_vendor = {"aws": amount.aws, "azure": amount.azure, **amount.other_vendors}
        for vendor, figures in {**by_vendor, "total": amount.total}.items():
            yield (
                project.project_code,
                project.project_label,
                project.project_currency.value,
                vendor,
                figures.stock,
                figures.sales,
                figures.profit,
                figures.profit_rate,
                figures.stock_exchanged,
                figures.sales_exchanged,
                figures.profit_exchanged,
                figures.profit_exchanged_rate,
            )
