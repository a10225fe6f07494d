"""Tokens over HTTP; paths are relative to the address of the login service."""

from typing import Any

from litestar import Request, Response

from nimbill.foundation.vocabulary import Product
from nimbill.http.routing import ResourcesOfWorker, post
from nimbill.identity.login.bodies import TokenAnswer, TokenForm
from nimbill.identity.login.grants import grant
from nimbill.identity.login.token_endpoint import (
    TOKEN_ENDPOINT,
    answer_token_request,
    read_token_form,
)

FORM = {"multipart/form-data": TokenForm, "application/x-www-form-urlencoded": TokenForm}


@post("/core/access_token", reads=FORM, **TOKEN_ENDPOINT)
async def issue_core_token(
    request: Request[Any, Any, Any], resources: ResourcesOfWorker
) -> Response[TokenAnswer]:
    """A `core` token for a client, or for a user through a client; form fields."""
    return await answer_token_request(
        request, read_token_form, lambda form: grant(resources, Product.core, form)
    )


@post("/access_token", reads=FORM, **TOKEN_ENDPOINT)
async def issue_portal_token(
    request: Request[Any, Any, Any], resources: ResourcesOfWorker
) -> Response[TokenAnswer]:
    """A `portal` token for a client, or for a user through a client; form fields."""
    return await answer_token_request(
        request, read_token_form, lambda form: grant(resources, Product.portal, form)
    )


ROUTES = [issue_core_token, issue_portal_token]
