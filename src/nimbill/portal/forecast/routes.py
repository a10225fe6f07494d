"""HTTP route of the forecast; its path is relative to /m/portal."""

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.portal.forecast.bodies import MonthForecast
from nimbill.portal.forecast.operations import build_forecast
from nimbill.portal.one_company import load_one_company
from nimbill.portal.report_months import current_day
from nimbill.portal.report_parameters import OneCompanyId


@get(
    "/forecast",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="dashboard_graph",
    basis=chosen("portal-forecast"),
)
async def read_forecast(
    caller: RequestCaller, db: Transaction, company_id: OneCompanyId = None
) -> MonthForecast:
    """Show what the current month is expected to cost."""
    company = await load_one_company(db, caller, company_id)
    return await build_forecast(db, company, current_day())


ROUTES = [read_forecast]
