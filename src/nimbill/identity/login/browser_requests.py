"""What requests of a browser share: the same site, the organisation, the device and the cookies."""

import base64
import hmac
import secrets
from hashlib import sha256
from typing import Any

from litestar import Request
from litestar.datastructures import Cookie

from nimbill.access.login_failures import KNOWN_SOURCE_LIFETIME
from nimbill.access.password_hash_queue import QueueLane
from nimbill.access.request_context import Resources
from nimbill.database.tenant_lookup import LookupKind, find_organisation_id
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import NotPermitted
from nimbill.foundation.origins import format_origin
from nimbill.foundation.product import Product
from nimbill.identity.login import login_rate_limits
from nimbill.identity.login.refresh_tokens import SigningInBrowser

DEVICE_COOKIE = "nimbill_device"
DEVICE_SECONDS = int(KNOWN_SOURCE_LIFETIME.total_seconds())
USER_AGENT_LENGTH_MAX = 300
ADDRESS_LENGTH_MAX = 100


def refuse_other_origin(request: Request[Any, Any, Any], resources: Resources) -> None:
    """Prevent cross-site request forgery with the session cookie.

    Sec-Fetch-Site decides if the browser sends it. Older browsers send Origin, which must be the
    address of the request or of the service. Scripts send neither header and are allowed.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        same_site = site in ("same-origin", "none")
    else:
        own = {
            format_origin(resources.settings.base_url),
            format_origin(resources.settings.auth_url),
        }
        host = request.headers.get("host", "")
        # Compared as text, so an Origin that is not a valid address never matches.
        own |= {f"{scheme}://{host}" for scheme in ("http", "https")}
        same_site = origin is None or origin in own
    if not same_site:
        raise NotPermitted("other_origin", "The request comes from another site.")


async def find_scope(resources: Resources, organisation: str) -> TenantScope | None:
    """Find an organisation by its short name or its id."""
    async with resources.engine.connect() as db:
        organisation_id = await find_organisation_id(
            db, LookupKind.short_name, organisation.lower()
        ) or await find_organisation_id(db, LookupKind.organisation, organisation)
    return None if organisation_id is None else TenantScope(organisation_id)


def read_device(request: Request[Any, Any, Any], resources: Resources) -> str:
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


def select_queue(
    request: Request[Any, Any, Any], resources: Resources, device: str
) -> tuple[QueueLane, str]:
    if request.cookies.get(DEVICE_COOKIE) == _sign_device(device, resources):
        return QueueLane.known_source, device
    return QueueLane.unknown_source, login_rate_limits.get_source(request, resources)


def session_cookie_name(product: Product) -> str:
    return f"nimbill_{product}_session"


def build_device_cookie(resources: Resources, device: str) -> Cookie:
    value = _sign_device(device, resources)
    return build_cookie(resources, DEVICE_COOKIE, value, seconds=DEVICE_SECONDS, path="/")


def build_cookie(resources: Resources, name: str, value: str, *, seconds: int, path: str) -> Cookie:
    return Cookie(
        key=name,
        value=value,
        max_age=seconds,
        path=path,
        httponly=True,
        samesite="strict",
        secure=resources.settings.base_url.startswith("https:"),
    )


def describe_browser(request: Request[Any, Any, Any], resources: Resources) -> SigningInBrowser:
    """Return a printable part of the header that a browser describes itself with."""
    header = request.headers.get("user-agent", "")[:USER_AGENT_LENGTH_MAX]
    user_agent = "".join(character for character in header if character.isprintable())
    address = login_rate_limits.get_client_address(request, resources.settings.trusted_proxies)
    return SigningInBrowser(user_agent or None, address[:ADDRESS_LENGTH_MAX] or None)
