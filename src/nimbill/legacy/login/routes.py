"""The token endpoint of version 3; the path is relative to the address of the legacy API."""

from typing import Any

from litestar import Request, Response

from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid
from nimbill.http.routing import WorkerResources, post
from nimbill.identity.login.token_endpoint import (
    TOKEN_ENDPOINT,
    answer_token_request,
    read_token_form,
)
from nimbill.legacy.login.bodies import LegacyTokenAnswer, LegacyTokenForm
from nimbill.legacy.login.grants import grant_legacy_token

LEGACY_FORM = {
    "application/json": LegacyTokenForm,
    "application/x-www-form-urlencoded": LegacyTokenForm,
}
TAG = "Tokens and sessions"


@post("/v3/access_token", reads=LEGACY_FORM, tags=[TAG], **TOKEN_ENDPOINT)
async def issue_legacy_token(
    request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[LegacyTokenAnswer]:
    """A token of the legacy API, deprecated; a JSON object, or form fields."""
    return await answer_token_request(
        request, _read_json_or_form, lambda form: grant_legacy_token(resources, form)
    )


async def _read_json_or_form(request: Request[Any, Any, Any]) -> dict[str, str]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return await read_token_form(request)
    sent = exact_json.decode(await request.body())
    if not isinstance(sent, dict):
        raise Invalid("malformed_body", "the body is not a JSON object")
    given = {name: value for name, value in sent.items() if value is not None}
    known = ("grant_type", "client_id", "client_secret", "username", "password")
    if any(not isinstance(given.get(name, ""), str) for name in known):
        raise Invalid("malformed_body", "every field is a text")
    return {name: given[name] for name in known if name in given}


ROUTES = [issue_legacy_token]
