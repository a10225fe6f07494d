"""HTTP routes that list and end the sessions of a user; paths are relative to /m/u/users."""

from litestar.params import FromPath

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, delete, get
from nimbill.identity.login import session_records as records
from nimbill.identity.login.bodies import ConsoleSession
from nimbill.identity.users.operations import require_manageable_user

PRODUCTS = [Audience.core, Audience.portal]


@get(
    "/{user_id:str}/sessions",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyUsers],
    own_user_parameter="user_id",
    flag_for_other_users="users_management",
    personal=True,
    basis=chosen("session-list"),
)
async def list_sessions(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> list[ConsoleSession]:
    """List the browsers in which the user is signed in, the last used one first."""
    user = await require_manageable_user(db, caller, resources, user_id)
    rows = await records.list_sessions(db, caller.scope, user.user_id)
    return [
        ConsoleSession(
            session_id=row.family_id,
            product=row.product,
            user_agent=row.user_agent,
            address=row.address,
            create_time=clock.format_seconds(row.create_time),
            last_use_time=clock.format_seconds(row.last_use_time),
            current=row.family_id == caller.client_id,
        )
        for row in rows
    ]


@delete(
    "/{user_id:str}/sessions/{session_id:str}",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyUsers],
    own_user_parameter="user_id",
    flag_for_other_users="users_management",
    basis=chosen("session-list"),
    audited="user/{user_id}/session/{session_id}",
    changes=Changes.users,
)
async def end_session(
    user_id: FromPath[str],
    session_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Success:
    """End a session. Its access token is refused at once."""
    user = await require_manageable_user(db, caller, resources, user_id)
    if not await records.delete_session(db, caller.scope, user.user_id, session_id):
        raise not_found()
    return Success()


ROUTES = [list_sessions, end_session]
