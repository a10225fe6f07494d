"""HTTP routes of the second step of signing in to a console."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from litestar import Request, Response
from litestar.params import JSONBody

from nimbill.access.gate import Public, Unaudited
from nimbill.access.login_failures import remember_source
from nimbill.access.request_context import Resources, get_request_context
from nimbill.access.role_actions import ANY_CALLER
from nimbill.audit import records as audit
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Invalid, NotAuthenticated, TooManyRequests
from nimbill.foundation.product import Product
from nimbill.http.routing import WorkerResources, post
from nimbill.identity.login import login_rate_limits
from nimbill.identity.login.bodies import SessionResponse
from nimbill.identity.login.browser_requests import (
    read_device,
    refuse_other_origin,
)
from nimbill.identity.login.constant_time_responses import wait_until_next_step
from nimbill.identity.login.refresh_tokens import TokenFamilyInvalid
from nimbill.identity.login.second_step import (
    check_proof,
    count_proof,
    find_setup,
    read_token,
    sign_in_expired,
)
from nimbill.identity.login.started_sessions import build_sign_in_response, start_session
from nimbill.identity.second_factors.bodies import (
    FactorRegistration,
    SecondFactorCreate,
    SecondFactorSignIn,
    SetupStart,
)
from nimbill.identity.second_factors.registration import (
    begin_registration,
    complete_registration,
)

SECOND_STEP: dict[str, Any] = {
    "audiences": Public("the token of the first step is the credential"),
    "role_actions": ANY_CALLER,
    "basis": chosen("second-factors"),
    "audited": Unaudited("issuing a token changes no record; a setup writes its own row"),
}

T = TypeVar("T")


@post("/core/session/second-factor", **SECOND_STEP)
async def prove_factor_to_core(
    request: Request[Any, Any, Any], data: JSONBody[SecondFactorSignIn], resources: WorkerResources
) -> Response[SessionResponse]:
    """Complete signing in to the core console with a passkey or a code."""
    return await _limit(request, resources, lambda: _prove(request, data, resources, Product.core))


@post("/portal/session/second-factor", **SECOND_STEP)
async def prove_factor_to_portal(
    request: Request[Any, Any, Any], data: JSONBody[SecondFactorSignIn], resources: WorkerResources
) -> Response[SessionResponse]:
    """Complete signing in to the portal with a passkey or a code."""
    return await _limit(
        request, resources, lambda: _prove(request, data, resources, Product.portal)
    )


@post("/core/session/second-factor/setup", **SECOND_STEP)
async def begin_core_setup(
    request: Request[Any, Any, Any], data: JSONBody[SetupStart], resources: WorkerResources
) -> FactorRegistration:
    """Begin to register the first factor, which the organisation requires."""
    return await _limit(request, resources, lambda: _begin_setup(data, resources, Product.core))


@post("/portal/session/second-factor/setup", **SECOND_STEP)
async def begin_portal_setup(
    request: Request[Any, Any, Any], data: JSONBody[SetupStart], resources: WorkerResources
) -> FactorRegistration:
    """Begin to register the first factor, which the organisation requires."""
    return await _limit(request, resources, lambda: _begin_setup(data, resources, Product.portal))


@post("/core/session/second-factor/setup/confirm", **SECOND_STEP)
async def complete_core_setup(
    request: Request[Any, Any, Any], data: JSONBody[SecondFactorCreate], resources: WorkerResources
) -> Response[SessionResponse]:
    """Register the first factor and complete signing in to the core console."""
    return await _limit(
        request, resources, lambda: _complete_setup(request, data, resources, Product.core)
    )


@post("/portal/session/second-factor/setup/confirm", **SECOND_STEP)
async def complete_portal_setup(
    request: Request[Any, Any, Any], data: JSONBody[SecondFactorCreate], resources: WorkerResources
) -> Response[SessionResponse]:
    """Register the first factor and complete signing in to the portal."""
    return await _limit(
        request, resources, lambda: _complete_setup(request, data, resources, Product.portal)
    )


async def _limit(
    request: Request[Any, Any, Any], resources: Resources, respond: Callable[[], Awaitable[T]]
) -> T:
    """Count refusals like failed logins of the address."""
    began = time.monotonic()
    refuse_other_origin(request, resources)
    try:
        await login_rate_limits.refuse_if_too_many(request, resources)
        return await respond()
    except TooManyRequests as error:
        await login_rate_limits.delay_refusal(request, resources, error)
        raise
    except (Invalid, NotAuthenticated):
        await login_rate_limits.count_failure(request, resources)
        await wait_until_next_step(began)
        raise


async def _prove(
    request: Request[Any, Any, Any],
    data: SecondFactorSignIn,
    resources: Resources,
    product: Product,
) -> Response[SessionResponse]:
    token = read_token(data.sign_in_token)
    challenge, attempt = await count_proof(resources, product, token)
    device = read_device(request, resources)
    try:
        async with transaction(resources.engine, token.scope.organisation_id) as db:
            user = await check_proof(db, resources, token, challenge, attempt, data)
            family = await start_session(db, request, resources, product, token.scope, user)
            await remember_source(db, token.scope, user.user_id, device, at=clock.now())
    except TokenFamilyInvalid:
        raise sign_in_expired() from None
    return build_sign_in_response(resources, product, family, user, device)


async def _begin_setup(
    data: SetupStart, resources: Resources, product: Product
) -> FactorRegistration:
    token = read_token(data.sign_in_token)
    async with transaction(resources.engine, token.scope.organisation_id) as db:
        _, user = await find_setup(db, product, token)
        return await begin_registration(db, resources, token, user, data.kind)


async def _complete_setup(
    request: Request[Any, Any, Any],
    data: SecondFactorCreate,
    resources: Resources,
    product: Product,
) -> Response[SessionResponse]:
    token = read_token(data.registration_token)
    device = read_device(request, resources)
    try:
        async with transaction(resources.engine, token.scope.organisation_id) as db:
            challenge, user = await find_setup(db, product, token)
            factor = await complete_registration(db, resources, token, challenge, data)
            family = await start_session(db, request, resources, product, token.scope, user)
            await remember_source(db, token.scope, user.user_id, device, at=clock.now())
            await audit.append_entry(
                db,
                actor=user.user_id,
                actor_name=user.username,
                action="add_second_factor",
                resource=f"second-factor/{factor.factor_id}",
                request_id=get_request_context(request.scope).request_id,
                sent={"name": data.name, "kind": factor.kind, "product": str(product)},
            )
    except TokenFamilyInvalid:
        raise sign_in_expired() from None
    return build_sign_in_response(resources, product, family, user, device)


ROUTES = [
    prove_factor_to_core,
    prove_factor_to_portal,
    begin_core_setup,
    begin_portal_setup,
    complete_core_setup,
    complete_portal_setup,
]
