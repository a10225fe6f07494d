"""Tokens over HTTP; paths are relative to the address of the login service."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from litestar import Request, Response
from litestar.exceptions.http_exceptions import RequestEntityTooLarge

from nimbill.access.gate import Public, Unaudited
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation import exact_json
from nimbill.foundation.basis import stated
from nimbill.foundation.errors import Invalid, ServiceError, TooMany
from nimbill.foundation.vocabulary import Product
from nimbill.http.forms import FORM_BYTES_MAX, read_form
from nimbill.http.request_bodies import Body
from nimbill.http.routing import ResourcesOfWorker, post
from nimbill.identity.login import login_rate_limits
from nimbill.identity.login.bodies import (
    LegacyTokenAnswer,
    LegacyTokenForm,
    TokenAnswer,
    TokenForm,
    TokenRefusal,
)
from nimbill.identity.login.grants import Refused, grant, with_basic_credentials
from nimbill.legacy.login.grants import legacy_grant

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}

TOKEN_ENDPOINT: dict[str, Any] = {
    "audiences": Public("a token is what the caller comes for"),
    "role_actions": ANY_CALLER,
    "basis": stated("Token endpoints"),
    "audited": Unaudited("issuing a token changes no record"),
    "request_max_body_size": FORM_BYTES_MAX,
    "refusal": TokenRefusal,
}
FORM = {"multipart/form-data": TokenForm, "application/x-www-form-urlencoded": TokenForm}
LEGACY_FORM = {
    "application/json": LegacyTokenForm,
    "application/x-www-form-urlencoded": LegacyTokenForm,
}


@post("/core/access_token", reads=FORM, **TOKEN_ENDPOINT)
async def issue_core_token(
    request: Request[Any, Any, Any], resources: ResourcesOfWorker
) -> Response[TokenAnswer]:
    """A `core` token for a client, or for a user through a client; form fields."""
    return await _answered(request, _form_of, lambda form: grant(resources, Product.core, form))


@post("/access_token", reads=FORM, **TOKEN_ENDPOINT)
async def issue_portal_token(
    request: Request[Any, Any, Any], resources: ResourcesOfWorker
) -> Response[TokenAnswer]:
    """A `portal` token for a client, or for a user through a client; form fields."""
    return await _answered(request, _form_of, lambda form: grant(resources, Product.portal, form))


@post("/v3/access_token", reads=LEGACY_FORM, **TOKEN_ENDPOINT)
async def issue_legacy_token(
    request: Request[Any, Any, Any], resources: ResourcesOfWorker
) -> Response[LegacyTokenAnswer]:
    """A token of the legacy API, deprecated; a JSON object, or form fields."""
    return await _answered(request, _json_or_form_of, lambda form: legacy_grant(resources, form))


async def _answered(
    request: Request[Any, Any, Any],
    read: Callable[[Request[Any, Any, Any]], Awaitable[dict[str, str]]],
    issue: Callable[[Mapping[str, str]], Awaitable[Body]],
) -> Response[Any]:
    resources: Resources = request.app.state.resources
    try:
        login_rate_limits.refuse_if_too_many(request, resources)
        form = await read(request)
        form = with_basic_credentials(form, request.headers.get("authorization"))
        if form.get("grant_type") == "password":
            login_rate_limits.refuse_client_if_too_many(form.get("client_id", ""), resources)
        return Response(await issue(form), headers=NO_STORE)
    except Refused as refused:
        if refused.error in ("invalid_client", "invalid_grant"):
            login_rate_limits.count(request, resources)
        return _refusal(refused.status, refused.error, refused.description)
    except ServiceError as error:
        if error.status not in (400, 408, 413, 415, 429):
            raise
        if isinstance(error, TooMany):
            await login_rate_limits.told_too_many(request, resources, error)
        word = "temporarily_unavailable" if isinstance(error, TooMany) else "invalid_request"
        return _refusal(error.status, word, error.detail, error.retry_after)
    except RequestEntityTooLarge:
        return _refusal(413, "invalid_request", "the form is larger than 64 KiB")


async def _form_of(request: Request[Any, Any, Any]) -> dict[str, str]:
    return read_form(request.headers.get("content-type", ""), await request.body())


async def _json_or_form_of(request: Request[Any, Any, Any]) -> dict[str, str]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return await _form_of(request)
    sent = exact_json.read(await request.body())
    if not isinstance(sent, dict):
        raise Invalid("malformed_body", "the body is not a JSON object")
    given = {name: value for name, value in sent.items() if value is not None}
    known = ("grant_type", "client_id", "client_secret", "username", "password")
    if any(not isinstance(given.get(name, ""), str) for name in known):
        raise Invalid("malformed_body", "every field is a text")
    return {name: given[name] for name in known if name in given}


def _refusal(status: int, error: str, description: str, retry_after: int = 0) -> Response[bytes]:
    headers = dict(NO_STORE)
    if status == 401:
        headers["WWW-Authenticate"] = 'Basic realm="nimbill"'
    if retry_after:
        headers["Retry-After"] = str(retry_after)
    body = exact_json.write(TokenRefusal(error=error, error_description=description))
    return Response(body, status_code=status, media_type="application/json", headers=headers)


ROUTES = [issue_core_token, issue_portal_token, issue_legacy_token]
