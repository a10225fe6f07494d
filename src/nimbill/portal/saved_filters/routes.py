"""HTTP routes of saved filters; paths are relative to /m/portal."""

from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, delete, get, post
from nimbill.portal.saved_filters import operations, records
from nimbill.portal.saved_filters.bodies import SavedFilter, SavedFilterCreate


@get(
    "/filters",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="report_filters",
    basis=chosen("saved-filters"),
)
async def list_saved_filters(caller: RequestCaller, db: Transaction) -> list[SavedFilter]:
    """List the caller's own filters by name."""
    return await records.list_filters(db, caller.scope, caller.user_id)


@post(
    "/filters",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="report_filters",
    basis=chosen("saved-filters"),
    audited="saved_filter/{filter_id}",
)
async def create_saved_filter(
    data: JSONBody[SavedFilterCreate], caller: RequestCaller, db: Transaction
) -> SavedFilter:
    """Save a filter for the caller."""
    return await operations.create_filter(db, caller, data)


@delete(
    "/filters/{filter_id:str}",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadAccount],
    flag="report_filters",
    basis=chosen("saved-filters"),
    audited="saved_filter/{filter_id}",
)
async def delete_saved_filter(
    filter_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete one of the caller's own filters."""
    await operations.delete_filter(db, caller, filter_id)
    return Success()


ROUTES = [list_saved_filters, create_saved_filter, delete_saved_filter]
