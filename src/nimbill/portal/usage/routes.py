"""HTTP routes of usage by account; paths are relative to /m/portal."""

from litestar.params import FromQuery

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    get,
    select_page,
)
from nimbill.portal.report_parameters import Selection
from nimbill.portal.usage.bodies import (
    AccountUsage,
    Interval,
    UsageGraph,
    list_rows_by_account,
    list_totals,
    list_unpriced,
    list_usage_months,
)
from nimbill.portal.usage.graph_series import (
    INTERVAL_DIMENSIONS,
    build_graph,
    choose_interval,
)
from nimbill.portal.usage_sums import Dimension, load_usage
from nimbill.portal.view import load_view


@get(
    "/usage/account",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="usage_account",
    basis=chosen("portal-usage"),
)
async def read_account_usage(
    caller: RequestCaller,
    db: Transaction,
    selection: Selection,
    limit: Limit = None,
    offset: Offset = 0,
) -> AccountUsage:
    """Show usage by month, account and service."""
    months = selection.months
    view = await load_view(db, caller, selection.company_id)
    usage = await load_usage(
        db,
        view,
        months,
        [Dimension.month, Dimension.vendor, Dimension.account, Dimension.service],
    )
    rows = list_rows_by_account(usage, view.list_names())
    return AccountUsage(
        rows=rows[select_page(limit, offset)],
        totals=list_totals(usage),
        months=list_usage_months(usage),
        unpriced=list_unpriced(usage.unpriced),
    )


@get(
    "/usage/account/graph",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="usage_account_graph",
    basis=chosen("portal-usage"),
)
async def read_account_graph(
    caller: RequestCaller,
    db: Transaction,
    selection: Selection,
    interval: FromQuery[Interval | None] = None,
) -> UsageGraph:
    """Show usage as one series per account, by day or by month."""
    months = selection.months
    shown = choose_interval(interval, months)
    view = await load_view(db, caller, selection.company_id)
    usage = await load_usage(db, view, months, [Dimension.account, INTERVAL_DIMENSIONS[shown]])
    names = dict(view.list_names())
    return build_graph(
        usage, shown, months, lambda customer_id: names.get(customer_id, customer_id)
    )


ROUTES = [read_account_usage, read_account_graph]
