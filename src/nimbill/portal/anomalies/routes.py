"""HTTP route of the anomalies; its path is relative to /m/portal."""

from typing import Annotated

from litestar.params import QueryParameter

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.portal.anomalies.bodies import Anomalies
from nimbill.portal.anomalies.operations import find_anomalies
from nimbill.portal.one_company import load_one_company
from nimbill.portal.report_months import list_report_months
from nimbill.portal.report_parameters import OneCompanyId

Month = Annotated[str | None, QueryParameter(description="a month as yyyy-mm")]


@get(
    "/anomalies",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="usage_account",
    basis=chosen("portal-anomalies"),
)
async def list_anomalies(
    caller: RequestCaller,
    db: Transaction,
    month: Month = None,
    company_id: OneCompanyId = None,
) -> Anomalies:
    """List the days of a month on which a service cost far more or less than usual."""
    (shown_month,) = list_report_months(month, None, None)
    company = await load_one_company(db, caller, company_id)
    return await find_anomalies(db, company, shown_month)


ROUTES = [list_anomalies]
