"""HTTP routes of the token endpoints; paths are relative to the address of the login service."""

from typing import Any

from litestar import Request, Response

from nimbill.foundation.product import Product
from nimbill.http.routing import WorkerResources, post
from nimbill.identity.login.bodies import TokenForm, TokenResponse
from nimbill.identity.login.grants import issue_tokens
from nimbill.identity.login.token_endpoint import (
    TOKEN_ENDPOINT,
    answer_token_request,
    read_token_form,
)

FORM = {"multipart/form-data": TokenForm, "application/x-www-form-urlencoded": TokenForm}


@post("/core/access_token", reads=FORM, **TOKEN_ENDPOINT)
async def issue_core_token(
    request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[TokenResponse]:
    """Issue a `core` token for a client, or for a user through a client."""
    return await answer_token_request(
        request, read_token_form, lambda form: issue_tokens(resources, Product.core, form)
    )


@post("/access_token", reads=FORM, **TOKEN_ENDPOINT)
async def issue_portal_token(
    request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[TokenResponse]:
    """Issue a `portal` token for a client, or for a user through a client."""
    return await answer_token_request(
        request, read_token_form, lambda form: issue_tokens(resources, Product.portal, form)
    )


ROUTES = [issue_core_token, issue_portal_token]
