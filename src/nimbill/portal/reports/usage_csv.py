"""Usage as CSV: one kind of file for each way to divide it. To add one, add it to REPORTS."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.invoicing.exports.csv_file import Cell
from nimbill.portal.groups.group_usage import list_rows_by_group, load_group_usage
from nimbill.portal.report_parameters import ReportSelection
from nimbill.portal.tags.bodies import list_cross_tag_rows, list_tag_rows
from nimbill.portal.tags.operations import load_tag_usage
from nimbill.portal.tags.tag_rules import KEY_RULE, is_tag_key, parse_keys
from nimbill.portal.usage.bodies import list_rows_by_account, list_unpriced, list_usage_months
from nimbill.portal.usage_sums import Dimension, Usage, load_usage
from nimbill.portal.view import load_view


class ReportBy(StrEnum):
    account = "account"
    group = "group"
    tag = "tag"
    crosstag = "crosstag"


# A file must not contain what its page would refuse.
PAGE_FLAGS: Mapping[ReportBy, str] = {
    ReportBy.group: "usage_group",
    ReportBy.tag: "usage_tag",
    ReportBy.crosstag: "usage_crosstag",
}


class UsageTable(NamedTuple):
    """Rows of month, vendor, the owner's columns, service, marketplace, currency and amount."""

    rows: Iterable[tuple[Cell, ...]]
    usage: Usage  # the months and what has no price


class ReportRequest(NamedTuple):
    caller: Caller
    selection: ReportSelection
    key: str | None
    keys: str | None


class Report(NamedTuple):
    owner_columns: Sequence[str]
    load: Callable[[AsyncConnection, ReportRequest], Awaitable[UsageTable]]


async def _load_by_account(db: AsyncConnection, request: ReportRequest) -> UsageTable:
    view = await load_view(db, request.caller, request.selection.company_id)
    dimensions = [Dimension.month, Dimension.vendor, Dimension.account, Dimension.service]
    usage = await load_usage(db, view, request.selection.months, dimensions)
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


async def _load_by_group(db: AsyncConnection, request: ReportRequest) -> UsageTable:
    view = await load_view(db, request.caller, request.selection.company_id)
    dimensions = [Dimension.month, Dimension.vendor, Dimension.service]
    usage = await load_group_usage(db, view, request.selection.months, dimensions)
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


async def _load_by_tag(db: AsyncConnection, request: ReportRequest) -> UsageTable:
    key = request.key or ""
    refuse_if([] if is_tag_key(key) else [Violation("key", KEY_RULE)])
    usage = await load_tag_usage(db, request.caller, request.selection, [key])
    rows = (
        (
            row.month,
            row.vendor,
            key,
            row.tag_value,
            row.service,
            format_boolean(value=row.marketplace),
            row.currency.upper(),
            row.amount,
        )
        for row in list_tag_rows(usage)
    )
    return UsageTable(rows, usage)


async def _load_by_two_tags(db: AsyncConnection, request: ReportRequest) -> UsageTable:
    keys = parse_keys(request.keys or "")
    usage = await load_tag_usage(db, request.caller, request.selection, keys)
    rows = (
        (
            row.month,
            row.vendor,
            keys[0],
            row.tag_value,
            keys[1],
            row.tag_value_2,
            row.service,
            format_boolean(value=row.marketplace),
            row.currency.upper(),
            row.amount,
        )
        for row in list_cross_tag_rows(usage)
    )
    return UsageTable(rows, usage)


REPORTS: Mapping[ReportBy, Report] = {
    ReportBy.account: Report(("CustomerID", "CustomerName"), _load_by_account),
    ReportBy.group: Report(("GroupID", "GroupName"), _load_by_group),
    ReportBy.tag: Report(("TagKey", "TagValue"), _load_by_tag),
    ReportBy.crosstag: Report(("TagKey1", "TagValue1", "TagKey2", "TagValue2"), _load_by_two_tags),
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
    for unpriced in list_unpriced(table.usage.unpriced):
        yield unpriced.month, unpriced.vendor, *[None] * empty, unpriced.reason


def format_boolean(*, value: bool) -> str:
    return "true" if value else "false"
