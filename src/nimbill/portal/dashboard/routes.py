"""HTTP route of the dashboard; its path is relative to /m/portal."""

from typing import Annotated

from litestar.params import QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.portal.dashboard.bodies import Dashboard
from nimbill.portal.dashboard.operations import build_dashboard, list_dashboard_months
from nimbill.portal.one_company import load_one_company
from nimbill.portal.report_months import current_day
from nimbill.portal.report_parameters import OneCompanyId

FirstMonth = Annotated[str | None, QueryParameter(name="from", description="a month as yyyy-mm")]
LastMonth = Annotated[str | None, QueryParameter(name="to", description="a month as yyyy-mm")]


@get(
    "/dashboard",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="dashboard_graph",
    basis=chosen("portal-dashboard"),
)
async def read_dashboard(
    caller: RequestCaller,
    db: Transaction,
    first: FirstMonth = None,
    last: LastMonth = None,
    company_id: OneCompanyId = None,
) -> Dashboard:
    """Show monthly totals, the largest costs, the forecast, anomalies and budgets."""
    today = current_day()
    months = list_dashboard_months(first, last, today)
    company = await load_one_company(db, caller, company_id)
    return await build_dashboard(db, caller, company, months, today)


ROUTES = [read_dashboard]
