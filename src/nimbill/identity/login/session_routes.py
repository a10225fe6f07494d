"""Where the consoles sign in: the refresh token stays in a cookie that scripts cannot read."""

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

from nimbill.access.gate import Audience, Public, Unaudited
from nimbill.access.password_hash_queue import QueuePlace, Ring
from nimbill.access.passwords import login_under_way
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.database.tenant_lookup import LookupKind, find_organisation_id
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import NotAuthenticated, NotPermitted, TooMany
from nimbill.foundation.vocabulary import Product
from nimbill.http.request_bodies import Success
from nimbill.http.routing import CallerOfRequest, ResourcesOfWorker, Transaction, delete, post
from nimbill.identity.login import login_rate_limits, records
from nimbill.identity.login.bodies import SignedIn, SignIn
from nimbill.identity.login.constant_time_responses import wait_until_next_step
from nimbill.identity.login.grants import answer, refreshed, user_by_password
from nimbill.identity.login.password_attempts import NOBODY, SOURCE_KEPT
from nimbill.identity.login.refresh_tokens import (
    ABSOLUTE,
    Family,
    NotStanding,
    Subject,
    start_family,
)
from nimbill.identity.users import records as users

DEVICE_COOKIE = "nimbill_device"
DEVICE_SECONDS = int(SOURCE_KEPT.total_seconds())
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
}


@post("/core/session", **SIGN_IN)
async def sign_in_to_core(
    request: Request[Any, Any, Any], data: JSONBody[SignIn], resources: ResourcesOfWorker
) -> Response[SignedIn]:
    """Sign in to the core console."""
    return await _sign_in(request, data, resources, Product.core)


@post("/portal/session", **SIGN_IN)
async def sign_in_to_portal(
    request: Request[Any, Any, Any], data: JSONBody[SignIn], resources: ResourcesOfWorker
) -> Response[SignedIn]:
    """Sign in to the portal."""
    return await _sign_in(request, data, resources, Product.portal)


@post("/core/session/refresh", **SIGN_IN)
async def refresh_core_session(
    request: Request[Any, Any, Any], resources: ResourcesOfWorker
) -> Response[SignedIn]:
    """A fresh access token for the core console, from its cookie."""
    return await _refresh(request, resources, Product.core)


@post("/portal/session/refresh", **SIGN_IN)
async def refresh_portal_session(
    request: Request[Any, Any, Any], resources: ResourcesOfWorker
) -> Response[SignedIn]:
    """A fresh access token for the portal, from its cookie."""
    return await _refresh(request, resources, Product.portal)


@delete("/core/session", audiences=[Audience.core], **SIGN_OUT)
async def sign_out_of_core(caller: CallerOfRequest, db: Transaction) -> Response[Success]:
    """End every console session of the caller."""
    return await _sign_out(caller.scope, db, caller.user_id, Product.core)


@delete("/portal/session", audiences=[Audience.portal], **SIGN_OUT)
async def sign_out_of_portal(caller: CallerOfRequest, db: Transaction) -> Response[Success]:
    """End every portal session of the caller."""
    return await _sign_out(caller.scope, db, caller.user_id, Product.portal)


async def _sign_in(
    request: Request[Any, Any, Any], data: SignIn, resources: Resources, product: Product
) -> Response[SignedIn]:
    began = time.monotonic()
    _refuse_other_origin(request, resources)
    device = _device(request, resources)
    try:
        login_rate_limits.refuse_if_too_many(request, resources)
        with login_under_way(*_place(request, resources, device)) as place:
            scope, user = await _named(resources, product, data, device, place)
    except TooMany as error:
        await login_rate_limits.told_too_many(request, resources, error)
        raise
    if user is None:
        login_rate_limits.count(request, resources)
        await wait_until_next_step(began)
        raise _wrong()
    subject = Subject(scope, user.user_id, None, user.credential_epoch, "user")
    try:
        async with transaction(resources.engine, scope.organisation_id) as db:
            await resources.sign_for(db, product)
            family = await start_family(db, product, subject)
    except NotStanding:
        raise _wrong() from None
    response = _signed_in(resources, product, family, user)
    response.set_cookie(_device_cookie(resources, device))
    return response


async def _named(
    resources: Resources, product: Product, data: SignIn, device: str, place: QueuePlace
) -> tuple[TenantScope, Row | None]:
    """Whoever gave the right password; for an organisation that is none the work is the same."""
    found = await _scope_named(resources, data.organisation)
    scope = NOBODY if found is None else found
    name = f"{data.organisation.lower()}/{data.username}" if found is None else data.username
    user = await user_by_password(
        resources, product, scope, place, username=name, password=data.password, source=device
    )
    return scope, user


def _wrong() -> NotAuthenticated:
    return NotAuthenticated("credentials_wrong", "organisation, name or password is wrong")


def _ended() -> NotAuthenticated:
    return NotAuthenticated("session_ended", "the session has ended; sign in again")


def _device(request: Request[Any, Any, Any], resources: Resources) -> str:
    """The browser's own mark from an earlier login, or a new one; only a success makes it known."""
    given = request.cookies.get(DEVICE_COOKIE, "")
    mark = given.partition(".")[0]
    ours = hmac.compare_digest(given.encode(), _marked(mark, resources).encode())
    return mark if ours and mark else secrets.token_urlsafe(18)


def _marked(mark: str, resources: Resources) -> str:
    """With a seal that only we can set: who shows it has logged in here before."""
    seal = hmac.digest(resources.encryptor.derive_key("device mark"), mark.encode(), sha256)
    return f"{mark}.{base64.urlsafe_b64encode(seal[:18]).decode()}"


def _place(request: Request[Any, Any, Any], resources: Resources, device: str) -> tuple[Ring, str]:
    if request.cookies.get(DEVICE_COOKIE) == _marked(device, resources):
        return Ring.known, device
    return Ring.strangers, login_rate_limits.source_of(request, resources)


async def _scope_named(resources: Resources, organisation: str) -> TenantScope | None:
    """By short name, or by id."""
    async with resources.engine.connect() as db:
        found = await find_organisation_id(db, LookupKind.short_name, organisation.lower())
        found = found or await find_organisation_id(db, LookupKind.organisation, organisation)
    return None if found is None else TenantScope(found)


async def _refresh(
    request: Request[Any, Any, Any], resources: Resources, product: Product
) -> Response[SignedIn]:
    _refuse_other_origin(request, resources)
    held = _SESSION.fullmatch(request.cookies.get(_name(product), ""))
    if held is None:
        raise _ended()
    scope = TenantScope(held["organisation"])
    try:
        family = await refreshed(resources, product, scope, None, held["token"])
    except NotStanding:
        raise _ended() from None
    async with transaction(resources.engine, scope.organisation_id) as db:
        await resources.sign_for(db, product)
        user = await users.find_user(db, scope, family.subject.user_id)
    if user is None:
        raise _ended()
    return _signed_in(resources, product, family, user)


async def _sign_out(
    scope: TenantScope, db: Transaction, user_id: str, product: Product
) -> Response[Success]:
    await records.end_sessions(db, scope, user_id, product)
    response = Response(Success())
    response.delete_cookie(_name(product), path=f"/{product}/session")
    return response


def _signed_in(
    resources: Resources, product: Product, family: Family, user: Row
) -> Response[SignedIn]:
    issued = answer(resources, product, family)
    response = Response(
        SignedIn(
            access_token=issued.access_token,
            expires_in=issued.expires_in,
            organisation_id=family.subject.scope.organisation_id,
            user_id=user.user_id,
            username=user.username,
        )
    )
    response.set_cookie(
        _cookie(
            resources,
            _name(product),
            f"{family.subject.scope.organisation_id}.{family.refresh_token}",
            seconds=int(ABSOLUTE.total_seconds()),
            path=f"/{product}/session",
        )
    )
    return response


def _name(product: Product) -> str:
    return f"nimbill_{product}_session"


def _device_cookie(resources: Resources, device: str) -> Cookie:
    marked = _marked(device, resources)
    return _cookie(resources, DEVICE_COOKIE, marked, seconds=DEVICE_SECONDS, path="/")


def _cookie(resources: Resources, name: str, value: str, *, seconds: int, path: str) -> Cookie:
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
    """A page of another site cannot make a browser use the cookie; scripts send neither header.

    A browser that says where the request comes from is believed; an older one names the page's
    origin, which must be the address the request was sent to, or ours.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        ours = site in ("same-origin", "none")
    else:
        own = {_origin(resources.settings.base_url), _origin(resources.settings.auth_url)}
        sent_to = request.headers.get("host", "")
        # compared as text: what cannot be read as an address is no origin of ours
        own |= {f"{scheme}://{sent_to}" for scheme in ("http", "https")}
        ours = origin is None or origin in own
    if not ours:
        raise NotPermitted("other_origin", "the request comes from another site")


def _origin(address: str) -> str:
    """As browsers write it: in small letters, without the port that goes without saying."""
    parts = urlsplit(address.lower())
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    said = parts.port not in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if said else "")


ROUTES = [
    sign_in_to_core,
    sign_in_to_portal,
    refresh_core_session,
    refresh_portal_session,
    sign_out_of_core,
    sign_out_of_portal,
]
