"""Console sessions: sign in, refresh and sign out. The refresh token is in an HttpOnly cookie."""

import re
import time
from typing import Any

from litestar import Request, Response
from litestar.params import JSONBody

from nimbill.access.gate import Audience, Changes, Public, Unaudited
from nimbill.access.login_failures import UNKNOWN_ORGANISATION
from nimbill.access.password_hash_queue import QueueEntry
from nimbill.access.passwords import enter_login_queue
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import NotAuthenticated, TooManyRequests
from nimbill.foundation.product import Product
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, delete, post
from nimbill.identity.login import login_rate_limits, records
from nimbill.identity.login.bodies import SessionResponse, SignInRequest
from nimbill.identity.login.browser_requests import (
    find_scope,
    read_device,
    refuse_other_origin,
    select_queue,
    session_cookie_name,
)
from nimbill.identity.login.constant_time_responses import wait_until_next_step
from nimbill.identity.login.grants import CheckedUser, authenticate_user, refresh_family
from nimbill.identity.login.refresh_tokens import TokenFamilyInvalid
from nimbill.identity.login.second_step import begin_second_step
from nimbill.identity.login.started_sessions import (
    build_session_response,
    build_sign_in_response,
    start_session,
)
from nimbill.identity.users import records as users

_SESSION = re.compile(r"(?P<organisation>[a-z0-9_]{1,40})\.(?P<token>[A-Za-z0-9_-]{1,100})")

SIGN_IN: dict[str, Any] = {
    "audiences": Public("signing in is how a person gets a token"),
    "role_actions": ANY_CALLER,
    "basis": chosen("console-sessions"),
    "audited": Unaudited("issuing a token changes no record"),
}
SIGN_OUT: dict[str, Any] = {
    "role_actions": ANY_CALLER,
    "basis": chosen("console-sessions"),
    "audited": "session",
    "changes": Changes.users,
}


@post("/core/session", **SIGN_IN)
async def sign_in_to_core(
    request: Request[Any, Any, Any], data: JSONBody[SignInRequest], resources: WorkerResources
) -> Response[SessionResponse]:
    """Sign in to the core console."""
    return await _sign_in(request, data, resources, Product.core)


@post("/portal/session", **SIGN_IN)
async def sign_in_to_portal(
    request: Request[Any, Any, Any], data: JSONBody[SignInRequest], resources: WorkerResources
) -> Response[SessionResponse]:
    """Sign in to the portal."""
    return await _sign_in(request, data, resources, Product.portal)


@post("/core/session/refresh", **SIGN_IN)
async def refresh_core_session(
    request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[SessionResponse]:
    """Issue a new access token for the core console from its session cookie."""
    return await _refresh(request, resources, Product.core)


@post("/portal/session/refresh", **SIGN_IN)
async def refresh_portal_session(
    request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[SessionResponse]:
    """Issue a new access token for the portal from its session cookie."""
    return await _refresh(request, resources, Product.portal)


@delete("/core/session", audiences=[Audience.core], **SIGN_OUT)
async def sign_out_of_core(caller: RequestCaller, db: Transaction) -> Response[Success]:
    """End every console session of the caller."""
    return await _sign_out(caller.scope, db, caller.user_id, Product.core)


@delete("/portal/session", audiences=[Audience.portal], **SIGN_OUT)
async def sign_out_of_portal(caller: RequestCaller, db: Transaction) -> Response[Success]:
    """End every portal session of the caller."""
    return await _sign_out(caller.scope, db, caller.user_id, Product.portal)


async def _sign_in(
    request: Request[Any, Any, Any], data: SignInRequest, resources: Resources, product: Product
) -> Response[SessionResponse]:
    began = time.monotonic()
    refuse_other_origin(request, resources)
    device = read_device(request, resources)
    try:
        with enter_login_queue(*select_queue(request, resources, device)) as queue_entry:
            await login_rate_limits.refuse_if_too_many(request, resources)
            scope, checked = await _authenticate(resources, product, data, device, queue_entry)
    except TooManyRequests as error:
        await login_rate_limits.delay_refusal(request, resources, error)
        raise
    if checked is None:
        await login_rate_limits.count_failure(request, resources)
        await wait_until_next_step(began)
        raise _invalid_credentials()
    user = checked.user
    if checked.second_step is not None:
        raise await begin_second_step(resources, product, scope, user, checked.second_step)
    try:
        async with transaction(resources.engine, scope.organisation_id) as db:
            family = await start_session(db, request, resources, product, scope, user)
    except TokenFamilyInvalid:
        raise _invalid_credentials() from None
    return build_sign_in_response(resources, product, family, user, device)


async def _authenticate(
    resources: Resources,
    product: Product,
    data: SignInRequest,
    device: str,
    queue_entry: QueueEntry,
) -> tuple[TenantScope, CheckedUser | None]:
    """Authenticate the user; an unknown organisation takes the same work as a known one."""
    known_scope = await find_scope(resources, data.organisation)
    scope = known_scope or UNKNOWN_ORGANISATION
    name = data.username if known_scope else f"{data.organisation.lower()}/{data.username}"
    checked = await authenticate_user(
        resources, product, scope, queue_entry, username=name, password=data.password, source=device
    )
    return scope, checked


def _invalid_credentials() -> NotAuthenticated:
    return NotAuthenticated(
        "credentials_wrong", "The organisation, the username or the password is wrong."
    )


def _session_ended() -> NotAuthenticated:
    return NotAuthenticated("session_ended", "The session has ended. Sign in again.")


async def _refresh(
    request: Request[Any, Any, Any], resources: Resources, product: Product
) -> Response[SessionResponse]:
    refuse_other_origin(request, resources)
    session = _SESSION.fullmatch(request.cookies.get(session_cookie_name(product), ""))
    if session is None:
        raise _session_ended()
    scope = TenantScope(session["organisation"])
    try:
        family = await refresh_family(resources, product, scope, None, session["token"])
    except TokenFamilyInvalid:
        raise _session_ended() from None
    async with transaction(resources.engine, scope.organisation_id) as db:
        await resources.use_active_key(db, product)
        user = await users.find_user(db, scope, family.subject.user_id)
    if user is None:
        raise _session_ended()
    return build_session_response(resources, product, family, user)


async def _sign_out(
    scope: TenantScope, db: Transaction, user_id: str, product: Product
) -> Response[Success]:
    await records.delete_sessions(db, scope, user_id, product)
    response = Response(Success())
    response.delete_cookie(session_cookie_name(product), path=f"/{product}/session")
    return response


ROUTES = [
    sign_in_to_core,
    sign_in_to_portal,
    refresh_core_session,
    refresh_portal_session,
    sign_out_of_core,
    sign_out_of_portal,
]
