"""Usage as CSV: one kind of file for each way to divide it. To add one, add it to REPORTS."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.foundation.basis import chosen
from nimbill.invoicing.exports.csv_file import Cell
from nimbill.portal.groups.group_usage import list_rows_by_group, load_group_usage
from nimbill.portal.usage.bodies import list_rows_by_account, list_unpriced, list_usage_months
from nimbill.portal.usage_sums import Dimension, Usage, load_usage
from nimbill.portal.view import PortalView

basis = chosen("portal-reports")


class ReportBy(StrEnum):
    account = "account"
    group = "group"


class UsageTable(NamedTuple):
    """Rows of month, vendor, the owner's columns, service, marketplace, currency and amount."""

    rows: Iterable[tuple[Cell, ...]]
    usage: Usage  # the months and what has no price


class Report(NamedTuple):
    owner_columns: Sequence[str]
    load: Callable[[AsyncConnection, PortalView, Sequence[str]], Awaitable[UsageTable]]


async def _load_by_account(
    db: AsyncConnection, view: PortalView, months: Sequence[str]
) -> UsageTable:
    dimensions = [Dimension.month, Dimension.vendor, Dimension.account, Dimension.service]
    usage = await load_usage(db, view, months, dimensions)
    rows = (
        (
            row.month,
            row.vendor,
            row.customer_id,
            row.customer_name,
            row.service,
            format_boolean(value=row.marketplace),
            row.currency.upper(),
            row.amount,
        )
        for row in list_rows_by_account(usage, view.list_names())
    )
    return UsageTable(rows, usage)


async def _load_by_group(
    db: AsyncConnection, view: PortalView, months: Sequence[str]
) -> UsageTable:
    dimensions = [Dimension.month, Dimension.vendor, Dimension.service]
    usage = await load_group_usage(db, view, months, dimensions)
    rows = (
        (
            row.month,
            row.vendor,
            row.group_id,
            row.group_name,
            row.service,
            format_boolean(value=row.marketplace),
            row.currency.upper(),
            row.amount,
        )
        for row in list_rows_by_group(usage)
    )
    return UsageTable(rows, usage.by_account)


REPORTS: Mapping[ReportBy, Report] = {
    ReportBy.account: Report(("CustomerID", "CustomerName"), _load_by_account),
    ReportBy.group: Report(("GroupID", "GroupName"), _load_by_group),
}


def build_header(report: Report) -> tuple[str, ...]:
    return (
        "Month",
        "Vendor",
        *report.owner_columns,
        "Service",
        "Marketplace",
        "Currency",
        "Amount",
        "Provisional",
        "Unpriced",
    )


def build_rows(report: Report, table: UsageTable) -> Iterator[tuple[Cell, ...]]:
    """The rows of the table, then one for each month and vendor with usage that has no price."""
    provisional = {
        (month.month, month.vendor): month.provisional for month in list_usage_months(table.usage)
    }
    for month, vendor, *cells in table.rows:
        is_open = provisional[str(month), str(vendor)]
        yield month, vendor, *cells, format_boolean(value=is_open), None
    empty = len(report.owner_columns) + 5
    for unpriced in list_unpriced(table.usage):
        yield unpriced.month, unpriced.vendor, *[None] * empty, unpriced.reason


def format_boolean(*, value: bool) -> str:
    return "true" if value else "false"
