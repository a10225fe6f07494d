"""HTTP routes of forgotten passwords: request a link, and choose a password with it."""

import time
from typing import Any

from litestar import Request
from litestar.params import JSONBody

from nimbill.access.gate import Public, Unaudited
from nimbill.access.request_context import Resources, get_request_context
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Invalid
from nimbill.foundation.product import Product
from nimbill.http.request_bodies import Success
from nimbill.http.routing import WorkerResources, post
from nimbill.identity.login import login_rate_limits, password_reset
from nimbill.identity.login.bodies import PasswordResetConfirm, PasswordResetRequest
from nimbill.identity.login.browser_requests import refuse_other_origin
from nimbill.identity.login.constant_time_responses import wait_until_next_step

REQUEST: dict[str, Any] = {
    "audiences": Public("who forgot the password has no token"),
    "role_actions": ANY_CALLER,
    "basis": chosen("password-links"),
    "audited": Unaudited("the mail changes no record; using its link writes a row"),
    "status_code": 202,
}
CONFIRM: dict[str, Any] = {
    "audiences": Public("the link is the credential"),
    "role_actions": ANY_CALLER,
    "basis": chosen("password-links"),
    "audited": Unaudited("the operation writes a row, because there is no caller"),
}


@post("/core/password-reset", **REQUEST)
async def request_core_password_link(
    request: Request[Any, Any, Any],
    data: JSONBody[PasswordResetRequest],
    resources: WorkerResources,
) -> Success:
    """Mail a link to choose a new password, if the user exists. The response is always the same."""
    return await _request_link(request, data, resources, Product.core)


@post("/portal/password-reset", **REQUEST)
async def request_portal_password_link(
    request: Request[Any, Any, Any],
    data: JSONBody[PasswordResetRequest],
    resources: WorkerResources,
) -> Success:
    """Mail a link to choose a new password, if the user exists. The response is always the same."""
    return await _request_link(request, data, resources, Product.portal)


@post("/core/password-reset/confirm", **CONFIRM)
async def choose_core_password(
    request: Request[Any, Any, Any],
    data: JSONBody[PasswordResetConfirm],
    resources: WorkerResources,
) -> Success:
    """Choose a password with a link of the core console. Every token of the user ends."""
    return await _choose_password(request, data, resources, Product.core)


@post("/portal/password-reset/confirm", **CONFIRM)
async def choose_portal_password(
    request: Request[Any, Any, Any],
    data: JSONBody[PasswordResetConfirm],
    resources: WorkerResources,
) -> Success:
    """Choose a password with a link of the portal. Every token of the user ends."""
    return await _choose_password(request, data, resources, Product.portal)


async def _request_link(
    request: Request[Any, Any, Any],
    data: PasswordResetRequest,
    resources: Resources,
    product: Product,
) -> Success:
    """Count every request like a failed login of the address."""
    began = time.monotonic()
    refuse_other_origin(request, resources)
    await login_rate_limits.count_failure(request, resources)
    await password_reset.request_link(resources, product, data)
    await wait_until_next_step(began)
    return Success()


async def _choose_password(
    request: Request[Any, Any, Any],
    data: PasswordResetConfirm,
    resources: Resources,
    product: Product,
) -> Success:
    began = time.monotonic()
    refuse_other_origin(request, resources)
    await login_rate_limits.refuse_if_too_many(request, resources)
    try:
        await password_reset.choose_password(
            resources, product, data, request_id=get_request_context(request.scope).request_id
        )
    except Invalid:
        await login_rate_limits.count_failure(request, resources)
        await wait_until_next_step(began)
        raise
    return Success()


ROUTES = [
    request_core_password_link,
    request_portal_password_link,
    choose_core_password,
    choose_portal_password,
]
