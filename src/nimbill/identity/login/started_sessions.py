"""Start a console session, and respond with its access token and its cookie."""

from typing import Any

from litestar import Request, Response
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.request_context import Resources
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.product import Product
from nimbill.identity.login.bodies import SessionResponse
from nimbill.identity.login.browser_requests import (
    build_cookie,
    build_device_cookie,
    describe_browser,
    session_cookie_name,
)
from nimbill.identity.login.grants import build_token_response
from nimbill.identity.login.refresh_tokens import (
    ABSOLUTE_LIFETIME,
    TokenFamily,
    TokenSubject,
    start_family,
)


async def start_session(
    db: AsyncConnection,
    request: Request[Any, Any, Any],
    resources: Resources,
    product: Product,
    scope: TenantScope,
    user: Row,
) -> TokenFamily:
    """Raise TokenFamilyInvalid if the user was deleted concurrently."""
    subject = TokenSubject(scope, user.user_id, None, user.credential_epoch, "user")
    await resources.use_active_key(db, product)
    return await start_family(db, product, subject, describe_browser(request, resources))


def build_sign_in_response(
    resources: Resources, product: Product, family: TokenFamily, user: Row, device: str
) -> Response[SessionResponse]:
    """Respond to a sign-in: the browser is known from now on."""
    response = build_session_response(resources, product, family, user)
    response.set_cookie(build_device_cookie(resources, device))
    return response


def build_session_response(
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
        build_cookie(
            resources,
            session_cookie_name(product),
            f"{family.subject.scope.organisation_id}.{family.refresh_token}",
            seconds=int(ABSOLUTE_LIFETIME.total_seconds()),
            path=f"/{product}/session",
        )
    )
    return response
