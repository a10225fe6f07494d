"""The rows of the project file: vendor cost, sales and profit per vendor."""

from collections.abc import Iterable, Iterator

from nimbill.invoicing.exports.csv_file import Cell
from nimbill.invoicing.profit.project_profits import ProjectProfit


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
