"""Shared by all token endpoints: rate limits, client credentials, OAuth error responses."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from litestar import Request, Response
from litestar.exceptions.http_exceptions import RequestEntityTooLarge

from nimbill.access.gate import Public, Unaudited
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation import exact_json
from nimbill.foundation.basis import stated
from nimbill.foundation.errors import ServiceError, TooManyRequests
from nimbill.http.forms import FORM_BYTES_MAX, parse_form
from nimbill.http.request_bodies import Body
from nimbill.identity.login import login_rate_limits
from nimbill.identity.login.bodies import OAuthError
from nimbill.identity.login.grants import TokenRequestError, add_basic_credentials

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}

TOKEN_ENDPOINT: dict[str, Any] = {
    "audiences": Public("a token is what the caller comes for"),
    "role_actions": ANY_CALLER,
    "basis": stated("Token endpoints"),
    "audited": Unaudited("issuing a token changes no record"),
    "request_max_body_size": FORM_BYTES_MAX,
    "refusal": OAuthError,
}


async def answer_token_request(
    request: Request[Any, Any, Any],
    read: Callable[[Request[Any, Any, Any]], Awaitable[dict[str, str]]],
    issue: Callable[[Mapping[str, str]], Awaitable[Body]],
) -> Response[Any]:
    resources: Resources = request.app.state.resources
    try:
        form = await read(request)
        try:
            form = add_basic_credentials(form, request.headers.get("authorization"))
            if form.get("grant_type") == "password":
                await login_rate_limits.refuse_if_too_many(
                    request, resources, client_id=form.get("client_id", "")
                )
            return Response(await issue(form), headers=NO_STORE)
        except TokenRequestError as refusal:
            if refusal.error in ("invalid_client", "invalid_grant"):
                await login_rate_limits.count_failure(request, resources)
            return _build_error_response(refusal.status, refusal.error, refusal.description)
    except ServiceError as error:
        if error.status not in (400, 408, 413, 415, 429):
            raise
        if isinstance(error, TooManyRequests):
            await login_rate_limits.delay_refusal(request, resources, error)
        oauth_error = (
            "temporarily_unavailable" if isinstance(error, TooManyRequests) else "invalid_request"
        )
        return _build_error_response(error.status, oauth_error, error.detail, error.retry_after)
    except RequestEntityTooLarge:
        return _build_error_response(413, "invalid_request", "The form is larger than 64 KiB.")


async def read_token_form(request: Request[Any, Any, Any]) -> dict[str, str]:
    return parse_form(request.headers.get("content-type", ""), await request.body())


def _build_error_response(
    status: int, error: str, description: str, retry_after: int = 0
) -> Response[bytes]:
    headers = dict(NO_STORE)
    if status == 401:
        headers["WWW-Authenticate"] = 'Basic realm="nimbill"'
    if retry_after:
        headers["Retry-After"] = str(retry_after)
    body = exact_json.encode(OAuthError(error=error, error_description=description))
    return Response(body, status_code=status, media_type="application/json", headers=headers)
