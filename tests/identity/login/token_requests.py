"""Request tokens through the API, and create users with API clients."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import httpx
import jwt

from nimbill.foundation.product import Product
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.running_service import PASSWORD, Service

CORE, PORTAL = "/core/access_token", "/access_token"
LEGACY_TOKEN_PATH = "/v3/access_token"  # version 3
TOKEN_PATHS = {
    Product.core: CORE,
    Product.portal: PORTAL,
    LEGACY: LEGACY_TOKEN_PATH,  # version 3
}
PRODUCTS = (Product.core, Product.portal)

# a route that needs a valid token but no permission
OWN_MAPPINGS = "/m/auth/rbac/userroles"


@dataclass(frozen=True)
class ApiUser:
    user_id: str
    username: str
    client_id: str
    client_secret: str
    password: str = PASSWORD


def credential_fields(owner: NewOrganisation | ApiUser) -> dict[str, str]:
    return {"client_id": owner.client_id, "client_secret": owner.client_secret}


def client_form(owner: NewOrganisation | ApiUser, **fields: str) -> dict[str, str]:
    """Return the form of the client_credentials grant."""
    return {"grant_type": "client_credentials", **credential_fields(owner), **fields}


def password_form(
    owner: NewOrganisation | ApiUser, username: str, password: str = PASSWORD
) -> dict[str, str]:
    """Return the form of the password grant, sent by the client of `owner`."""
    return {
        "grant_type": "password",
        **credential_fields(owner),
        "username": username,
        "password": password,
    }


def basic_headers(name: str, secret: str) -> dict[str, str]:
    """Return the client credentials as HTTP Basic authentication."""
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()}


def refresh_form(owner: NewOrganisation | ApiUser, refresh_token: str) -> dict[str, str]:
    return {
        "grant_type": "refresh_token",
        **credential_fields(owner),
        "refresh_token": refresh_token,
    }


def request_token(
    service: Service, form: dict[str, str], product: Product = Product.core
) -> httpx.Response:
    return service.http.post(TOKEN_PATHS[product], data=form)


def issue_tokens(
    service: Service, form: dict[str, str], product: Product = Product.core
) -> dict[str, Any]:
    """Return the body of a successful token response."""
    response = request_token(service, form, product)
    assert response.status_code == 200, response.text
    tokens: dict[str, Any] = response.json()
    return tokens


def read_oauth_error(response: httpx.Response, status: int, error: str) -> str:
    """Check the common parts of an OAuth error response and return its description."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["pragma"] == "no-cache"
    assert set(response.json()) == {"error", "error_description"}
    assert response.json()["error"] == error
    assert ("www-authenticate" in response.headers) == (status == 401)
    description: str = response.json()["error_description"]
    return description


def bearer_headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def is_token_valid(service: Service, token: str) -> bool:
    """Return whether the service accepts the access token."""
    status = service.http.get(OWN_MAPPINGS, headers=bearer_headers(token)).status_code
    assert status in (200, 401), status
    return status == 200


def decode_claims(token: str) -> dict[str, Any]:
    """Return the claims without verifying the signature."""
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


def create_user(
    service: Service, username: str = "jane.doe", organisation: NewOrganisation | None = None
) -> ApiUser:
    """Create a subuser with a password and an API client."""
    root = service.root(organisation)
    body = {"username": username, "password": PASSWORD, "notification": {"email": "false"}}
    created = service.http.post("/m/u/users", json=body, headers=root)
    assert created.status_code == 200, created.text
    user_id = created.json()["user_id"]
    response = service.http.post(f"/m/u/users/client/{user_id}", json={"name": "own"}, headers=root)
    assert response.status_code == 200, response.text
    client = response.json()
    return ApiUser(user_id, username, client["client_id"], client["client_secret"])
