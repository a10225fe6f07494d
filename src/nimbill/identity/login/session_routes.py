"""Console sessions: sign in, refresh and sign out. The refresh token is in an HttpOnly cookie."""

import base64
import hmac
import re
import secrets
import time
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from litestar import Request, Response
from litestar.datastructures import Cookie
from litestar.params import JSONBody

from nimbill.access.gate import Audience, Changes, Public, Unaudited
from nimbill.access.password_hash_queue import QueueEntry, QueueLane
from nimbill.access.passwords import enter_login_queue
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.database.tenant_lookup import LookupKind, find_organisation_id
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import NotAuthenticated, NotPermitted, TooManyRequests
from nimbill.foundation.product import Product
from nimbill.http.request_bodies import Success
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, delete, post
from nimbill.identity.login import login_rate_limits, records
from nimbill.identity.login.bodies import SessionResponse, SignInRequest
from nimbill.identity.login.constant_time_responses import wait_until_next_step
from nimbill.identity.login.grants import authenticate_user, build_token_response, refresh_family
from nimbill.identity.login.password_attempts import KNOWN_SOURCE_LIFETIME, UNKNOWN_ORGANISATION
from nimbill.identity.login.refresh_tokens import (
    ABSOLUTE_LIFETIME,
    TokenFamily,
    TokenFamilyInvalid,
    TokenSubject,
    start_family,
)
from nimbill.identity.users import records as users

DEVICE_COOKIE = "nimbill_device"
DEVICE_SECONDS = int(KNOWN_SOURCE_LIFETIME.total_seconds())
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
    _refuse_other_origin(request, resources)
    device = _read_device(request, resources)
    try:
        login_rate_limits.refuse_if_too_many(request, resources)
        with enter_login_queue(*_select_queue(request, resources, device)) as queue_entry:
            scope, user = await _authenticate(resources, product, data, device, queue_entry)
    except TooManyRequests as error:
        await login_rate_limits.delay_refusal(request, resources, error)
        raise
    if user is None:
        login_rate_limits.count_failure(request, resources)
        await wait_until_next_step(began)
        raise _invalid_credentials()
    subject = TokenSubject(scope, user.user_id, None, user.credential_epoch, "user")
    try:
        async with transaction(resources.engine, scope.organisation_id) as db:
            await resources.use_active_key(db, product)
            family = await start_family(db, product, subject)
    except TokenFamilyInvalid:
        raise _invalid_credentials() from None
    response = _build_session_response(resources, product, family, user)
    response.set_cookie(_build_device_cookie(resources, device))
    return response


async def _authenticate(
    resources: Resources,
    product: Product,
    data: SignInRequest,
    device: str,
    queue_entry: QueueEntry,
) -> tuple[TenantScope, Row | None]:
    """Authenticate the user; an unknown organisation takes the same work as a known one."""
    known_scope = await _find_scope(resources, data.organisation)
    scope = known_scope or UNKNOWN_ORGANISATION
    name = data.username if known_scope else f"{data.organisation.lower()}/{data.username}"
    user = await authenticate_user(
        resources, product, scope, queue_entry, username=name, password=data.password, source=device
    )
    return scope, user


def _invalid_credentials() -> NotAuthenticated:
    return NotAuthenticated(
        "credentials_wrong", "The organisation, the username or the password is wrong."
    )


def _session_ended() -> NotAuthenticated:
    return NotAuthenticated("session_ended", "The session has ended. Sign in again.")


def _read_device(request: Request[Any, Any, Any], resources: Resources) -> str:
    """Return the device id of the browser's cookie, or a new one for a missing or forged cookie."""
    cookie = request.cookies.get(DEVICE_COOKIE, "")
    device = cookie.partition(".")[0]
    genuine = hmac.compare_digest(cookie.encode(), _sign_device(device, resources).encode())
    return device if genuine and device else secrets.token_urlsafe(18)


def _sign_device(device: str, resources: Resources) -> str:
    """Append a signature, so that only browsers that signed in before have a valid cookie."""
    key = resources.encryptor.derive_key("device mark")
    signature = hmac.digest(key, device.encode(), sha256)
    return f"{device}.{base64.urlsafe_b64encode(signature[:18]).decode()}"


def _select_queue(
    request: Request[Any, Any, Any], resources: Resources, device: str
) -> tuple[QueueLane, str]:
    if request.cookies.get(DEVICE_COOKIE) == _sign_device(device, resources):
        return QueueLane.known_source, device
    return QueueLane.unknown_source, login_rate_limits.get_source(request, resources)


async def _find_scope(resources: Resources, organisation: str) -> TenantScope | None:
    """Find an organisation by its short name or its id."""
    async with resources.engine.connect() as db:
        organisation_id = await find_organisation_id(
            db, LookupKind.short_name, organisation.lower()
        ) or await find_organisation_id(db, LookupKind.organisation, organisation)
    return None if organisation_id is None else TenantScope(organisation_id)


async def _refresh(
    request: Request[Any, Any, Any], resources: Resources, product: Product
) -> Response[SessionResponse]:
    _refuse_other_origin(request, resources)
    session = _SESSION.fullmatch(request.cookies.get(_cookie_name(product), ""))
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
    return _build_session_response(resources, product, family, user)


async def _sign_out(
    scope: TenantScope, db: Transaction, user_id: str, product: Product
) -> Response[Success]:
    await records.delete_sessions(db, scope, user_id, product)
    response = Response(Success())
    response.delete_cookie(_cookie_name(product), path=f"/{product}/session")
    return response


def _build_session_response(
    resources: Resources, product: Product, family: TokenFamily, user: Row
) -> Response[SessionResponse]:
    tokens = build_token_response(resources, product, family)
    response = Response(
        SessionResponse(
            access_token=tokens.access_token,
            expires_in=tokens.expires_in,
            organisation_id=family.subject.scope.organisation_id,
            user_id=user.user_id,
            username=user.username,
        )
    )
    response.set_cookie(
        _build_cookie(
            resources,
            _cookie_name(product),
            f"{family.subject.scope.organisation_id}.{family.refresh_token}",
            seconds=int(ABSOLUTE_LIFETIME.total_seconds()),
            path=f"/{product}/session",
        )
    )
    return response


def _cookie_name(product: Product) -> str:
    return f"nimbill_{product}_session"


def _build_device_cookie(resources: Resources, device: str) -> Cookie:
    value = _sign_device(device, resources)
    return _build_cookie(resources, DEVICE_COOKIE, value, seconds=DEVICE_SECONDS, path="/")


def _build_cookie(
    resources: Resources, name: str, value: str, *, seconds: int, path: str
) -> Cookie:
    return Cookie(
        key=name,
        value=value,
        max_age=seconds,
        path=path,
        httponly=True,
        samesite="strict",
        secure=resources.settings.base_url.startswith("https:"),
    )


def _refuse_other_origin(request: Request[Any, Any, Any], resources: Resources) -> None:
    """Prevent cross-site request forgery with the session cookie.

    Sec-Fetch-Site decides if the browser sends it. Older browsers send Origin, which must be the
    address of the request or of the service. Scripts send neither header and are allowed.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        same_site = site in ("same-origin", "none")
    else:
        own = {
            _format_origin(resources.settings.base_url),
            _format_origin(resources.settings.auth_url),
        }
        host = request.headers.get("host", "")
        # Compared as text, so an Origin that is not a valid address never matches.
        own |= {f"{scheme}://{host}" for scheme in ("http", "https")}
        same_site = origin is None or origin in own
    if not same_site:
        raise NotPermitted("other_origin", "The request comes from another site.")


def _format_origin(address: str) -> str:
    """Format an origin as browsers do: in lower case, without the default port."""
    parts = urlsplit(address.lower())
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    explicit_port = parts.port not in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if explicit_port else "")


ROUTES = [
    sign_in_to_core,
    sign_in_to_portal,
    refresh_core_session,
    refresh_portal_session,
    sign_out_of_core,
    sign_out_of_portal,
]
