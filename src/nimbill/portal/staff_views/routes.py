"""HTTP routes of staff views; a view begins below /m/core and ends below /m/portal."""

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import chosen
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, delete, post
from nimbill.portal.staff_views import operations
from nimbill.portal.staff_views.bodies import StaffView, StaffViewStart
from nimbill.portal.staff_views.viewed_customer import VIEW_ACTIONS


@post(
    "/portal-views",
    audiences=[Audience.core],
    role_actions=VIEW_ACTIONS,
    basis=chosen("staff-view"),
    audited="portal_view/{view_id}",
    changes=Changes.billing_groups,
)
async def begin_portal_view(
    data: JSONBody[StaffViewStart],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> StaffView:
    """Issue a token with which the caller sees the portal as the customer does, read-only."""
    return await operations.begin_view(db, caller, resources, data)


@delete(
    "/views/{view_id:str}",
    audiences=[Audience.portal],
    role_actions=ANY_CALLER,
    flag=None,
    ends_view=True,
    basis=chosen("staff-view"),
    audited="portal_view/{view_id}",
)
async def end_portal_view(
    view_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """End a view of the caller before its time. The token of the view may do this, too."""
    await operations.end_view(db, caller, view_id)
    return Success()


CORE_ROUTES = [begin_portal_view]
PORTAL_ROUTES = [end_portal_view]
