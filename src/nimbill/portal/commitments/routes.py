"""HTTP routes of reservations and savings plans; paths are relative to /m/portal."""

import msgspec

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    get,
    select_page,
)
from nimbill.portal.commitments import recommendations, reservations, savings_plans
from nimbill.portal.commitments.bodies import (
    RecommendationList,
    ReservationList,
    ReservationUseList,
    SavingsPlanList,
)
from nimbill.portal.commitments.view import load_commitment_view
from nimbill.portal.report_months import list_report_months
from nimbill.portal.report_parameters import CompanyId, Month


@get(
    "/ri",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadRi],
    flag="ri_purchased",
    basis=chosen("portal-reservations"),
)
async def list_portal_reservations(
    caller: RequestCaller,
    db: Transaction,
    month: Month = None,
    company_id: CompanyId = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> ReservationList:
    """List the reservations of the customer, with their fees of a month."""
    (shown,) = list_report_months(month, None, None)
    view = await load_commitment_view(db, caller, company_id)
    body = await reservations.list_reservations(db, view, shown, clock.now())
    return msgspec.structs.replace(body, rows=body.rows[select_page(limit, offset)])


@get(
    "/ri/utilization",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadRi],
    flag="ri_utilization",
    basis=chosen("portal-reservations"),
)
async def read_reservation_use(
    caller: RequestCaller,
    db: Transaction,
    month: Month = None,
    company_id: CompanyId = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> ReservationUseList:
    """Show how many of the hours that were bought in a month were used."""
    (shown,) = list_report_months(month, None, None)
    view = await load_commitment_view(db, caller, company_id)
    body = await reservations.list_reservation_use(db, view, shown, clock.now())
    return msgspec.structs.replace(body, rows=body.rows[select_page(limit, offset)])


@get(
    "/ri/recommendation",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadRi],
    flag="ri_recommendation",
    basis=chosen("portal-recommendations"),
)
async def read_recommendations(
    caller: RequestCaller,
    db: Transaction,
    month: Month = None,
    company_id: CompanyId = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> RecommendationList:
    """Show instances that ran steadily on demand in a month."""
    (shown,) = list_report_months(month, None, None)
    view = await load_commitment_view(db, caller, company_id)
    body = await recommendations.list_recommendations(db, view, shown, clock.now())
    return msgspec.structs.replace(body, rows=body.rows[select_page(limit, offset)])


@get(
    "/sp",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadRi],
    flag="sp_purchased",
    basis=chosen("portal-savings-plans"),
)
async def list_savings_plans(
    caller: RequestCaller,
    db: Transaction,
    month: Month = None,
    company_id: CompanyId = None,
    limit: Limit = None,
    offset: Offset = 0,
) -> SavingsPlanList:
    """List the savings plans of the customer, with their fees and use of a month."""
    (shown,) = list_report_months(month, None, None)
    view = await load_commitment_view(db, caller, company_id)
    body = await savings_plans.list_plans(db, view, shown, clock.now())
    return msgspec.structs.replace(body, rows=body.rows[select_page(limit, offset)])


ROUTES = [
    list_portal_reservations,
    read_reservation_use,
    read_recommendations,
    list_savings_plans,
]
