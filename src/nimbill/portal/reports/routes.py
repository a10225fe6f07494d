"""HTTP routes of reports as files; paths are relative to /m/portal."""

import asyncio

from litestar import Response
from litestar.params import FromQuery

from nimbill.access.gate import Audience, require_flag
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import NotFound
from nimbill.http.downloads import CSV_TYPE, build_csv_download
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.identity.organisations.operations import require_organisation
from nimbill.invoicing.exports.csv_file import encode_csv
from nimbill.invoicing.focus.month_records import load_focus_month
from nimbill.portal.csv_headings import HeadingLanguage, translate_headings
from nimbill.portal.report_months import list_report_months
from nimbill.portal.report_parameters import CompanyId, Month, Selection
from nimbill.portal.reports.focus_csv import encode_focus
from nimbill.portal.reports.usage_csv import (
    PAGE_FLAGS,
    REPORTS,
    ReportBy,
    ReportRequest,
    build_header,
    build_rows,
)
from nimbill.portal.view import load_view, require_unfiltered

NO_INVOICES = (
    "This month has no invoice yet, and the file contains invoices only. Choose a month of "
    "GET /m/portal/invoices, or download the month's usage with GET /m/portal/usage/report."
)


@get(
    "/usage/report",
    audiences=[Audience.portal],
    role_actions=[RoleAction.DownloadReports],
    flag="usage_report_download",
    basis=chosen("portal-reports"),
    media_type=CSV_TYPE,
)
async def download_usage_report(
    caller: RequestCaller,
    db: Transaction,
    *,
    by: FromQuery[ReportBy] = ReportBy.account,
    key: FromQuery[str | None] = None,
    keys: FromQuery[str | None] = None,
    selection: Selection,
    language: HeadingLanguage = None,
) -> Response[bytes]:
    """Download usage by month, account, account group or tags, and service as CSV."""
    months = selection.months
    require_flag(caller, PAGE_FLAGS.get(by))
    report = REPORTS[by]
    table = await report.load(db, ReportRequest(caller, selection, key, keys))
    header = translate_headings(build_header(report), language)
    # encoding a large report would block the event loop
    content = await asyncio.to_thread(lambda: encode_csv(header, build_rows(report, table)))
    return build_csv_download(f"usage-{by}-{_name_period(months)}.csv", content)


@get(
    "/usage/focus",
    audiences=[Audience.portal],
    role_actions=[RoleAction.DownloadReports],
    flag="usage_report_download",
    basis=chosen("portal-focus"),
    media_type=CSV_TYPE,
)
async def download_focus_file(
    caller: RequestCaller, db: Transaction, month: Month = None, company_id: CompanyId = None
) -> Response[bytes]:
    """Download the invoices of a month as FOCUS 1.2 in CSV."""
    (only,) = list_report_months(month, None, None)
    view = await load_view(db, caller, company_id)
    require_unfiltered(view)
    organisation = await require_organisation(db, view.scope)
    focus_month = await load_focus_month(
        db, view.scope, organisation.name, only, None, published_only=True
    )
    if not focus_month.invoices:
        raise NotFound("no_invoices", NO_INVOICES)
    content = await asyncio.to_thread(encode_focus, focus_month)
    return build_csv_download(f"focus-{only}.csv", content)


def _name_period(months: list[str]) -> str:
    return months[0] if len(months) == 1 else f"{months[0]}-{months[-1]}"


ROUTES = [download_usage_report, download_focus_file]
