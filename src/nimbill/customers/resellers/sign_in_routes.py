"""HTTP routes of how a reseller account signs in: its sessions and second factors.

Paths are relative to /m/core.
"""

from litestar.params import FromPath

from nimbill.access.gate import Audience, Changes
from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers import records
from nimbill.customers.resellers.bodies import ResellerSession
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, delete, get
from nimbill.identity.login import session_records
from nimbill.identity.second_factors.records import delete_factors_of_user

MODIFY = [RoleAction.ModifyReseller]


@get(
    "/reseller/{user_id:str}/sessions",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=chosen("reseller-sign-in"),
)
async def list_reseller_sessions(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> list[ResellerSession]:
    """List the browsers in which a reseller account is signed in, the last used one first."""
    await _require_visible(caller, db, user_id)
    return [
        ResellerSession(
            session_id=row.family_id,
            user_agent=row.user_agent,
            address=row.address,
            create_time=clock.format_seconds(row.create_time),
            last_use_time=clock.format_seconds(row.last_use_time),
        )
        for row in await session_records.list_sessions(db, caller.scope, user_id)
    ]


@delete(
    "/reseller/{user_id:str}/sessions/{session_id:str}",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=chosen("reseller-sign-in"),
    audited="reseller/{user_id}/session/{session_id}",
    changes=Changes.billing_groups,
)
async def end_reseller_session(
    user_id: FromPath[str], session_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """End a session of a reseller account. Its access token is refused at once."""
    await _require_visible(caller, db, user_id)
    if not await session_records.delete_session(db, caller.scope, user_id, session_id):
        raise not_found()
    return Success()


@delete(
    "/reseller/{user_id:str}/second-factors",
    audiences=[Audience.core],
    role_actions=MODIFY,
    basis=chosen("reseller-sign-in"),
    audited="reseller/{user_id}/second-factors",
    changes=Changes.billing_groups,
)
async def remove_reseller_factors(
    user_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Remove all second factors of a reseller account, which then signs in with the password."""
    await _require_visible(caller, db, user_id)
    await delete_factors_of_user(db, caller.scope, user_id)
    return Success()


async def _require_visible(caller: RequestCaller, db: Transaction, user_id: str) -> None:
    if await records.find_reseller(db, caller.scope, user_id) is None:
        raise not_found()


ROUTES = [list_reseller_sessions, end_reseller_session, remove_reseller_factors]
