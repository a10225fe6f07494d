"""Tokens over HTTP; paths are relative to the login service's address."""

from typing import Any

from litestar import Request, Response

from nimbill import exact_json
from nimbill.access.guards import Public, Unaudited
from nimbill.access.role_actions import ANY_CALLER
from nimbill.access.visit import Resources
from nimbill.basis import stated
from nimbill.errors import ServiceError
from nimbill.forms import FORM_BYTES_MAX, read_form
from nimbill.login.bodies import TokenAnswer, TokenRefusal
from nimbill.login.grants import Refused, grant, with_basic_credentials
from nimbill.vocabulary import Product
from nimbill.web import post

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


@post(
    "/core/access_token",
    audiences=Public("a token is what the caller comes for"),
    role_actions=ANY_CALLER,
    basis=stated("Token endpoints"),
    audited=Unaudited("issuing a token changes no record"),
    request_max_body_size=FORM_BYTES_MAX,
)
async def issue_core_token(request: Request[Any, Any, Any]) -> Response[TokenAnswer]:
    """A `core` token for a client, or for a user through a client."""
    return await _issue(request, Product.core)


async def _issue(request: Request[Any, Any, Any], product: Product) -> Response[Any]:
    resources: Resources = request.app.state.resources
    try:
        form = read_form(request.headers.get("content-type", ""), await request.body())
        form = with_basic_credentials(form, request.headers.get("authorization"))
        async with resources.engine.connect() as db:
            answer = await grant(db, resources, product, form)
    except Refused as refused:
        return _refusal(refused.status, refused.error, refused.description)
    except ServiceError as error:
        if error.status not in (400, 413, 415):
            raise
        return _refusal(error.status, "invalid_request", error.detail)
    return Response(answer, headers=NO_STORE)


def _refusal(status: int, error: str, description: str) -> Response[bytes]:
    headers = NO_STORE | ({"WWW-Authenticate": "Basic"} if status == 401 else {})
    body = exact_json.write(TokenRefusal(error=error, error_description=description))
    return Response(body, status_code=status, media_type="application/json", headers=headers)


ROUTES = [issue_core_token]
