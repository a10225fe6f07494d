"""Asking for tokens as clients do, and users who can be asked for."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import httpx
import jwt

from nimbill.foundation.product import Product
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.legacy.audiences import LEGACY
from tests.running_service import PASSWORD, Service

CORE, PORTAL, LEGACY_TOKEN_PATH = "/core/access_token", "/access_token", "/v3/access_token"
TOKEN_PATHS = {Product.core: CORE, Product.portal: PORTAL, LEGACY: LEGACY_TOKEN_PATH}
PRODUCTS = (Product.core, Product.portal)

# a route that every caller of a product may ask, whatever its roles
OWN_MAPPINGS = "/m/auth/rbac/userroles"


@dataclass(frozen=True)
class ApiUser:
    user_id: str
    username: str
    client_id: str
    client_secret: str
    password: str = PASSWORD


def credential_fields(who: NewOrganisation | ApiUser) -> dict[str, str]:
    return {"client_id": who.client_id, "client_secret": who.client_secret}


def client_form(who: NewOrganisation | ApiUser, **more: str) -> dict[str, str]:
    """The form of the client_credentials grant."""
    return {"grant_type": "client_credentials", **credential_fields(who), **more}


def password_form(
    who: NewOrganisation | ApiUser, username: str, password: str = PASSWORD
) -> dict[str, str]:
    """The form of the password grant, carried by this client."""
    return {
        "grant_type": "password",
        **credential_fields(who),
        "username": username,
        "password": password,
    }


def basic_headers(name: str, secret: str) -> dict[str, str]:
    """How a client names itself in a header instead."""
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()}


def refresh_form(who: NewOrganisation | ApiUser, refresh_token: str) -> dict[str, str]:
    return {"grant_type": "refresh_token", **credential_fields(who), "refresh_token": refresh_token}


def request_token(
    service: Service, form: dict[str, str], product: Product = Product.core
) -> httpx.Response:
    return service.http.post(TOKEN_PATHS[product], data=form)


def issue_tokens(
    service: Service, form: dict[str, str], product: Product = Product.core
) -> dict[str, Any]:
    """What a form that stands is answered."""
    answer = request_token(service, form, product)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def read_oauth_error(answer: httpx.Response, status: int, error: str) -> str:
    """A refusal in the words of RFC 6749, after everything it must always hold was checked."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["pragma"] == "no-cache"
    assert set(answer.json()) == {"error", "error_description"}
    assert answer.json()["error"] == error
    assert ("www-authenticate" in answer.headers) == (status == 401)
    description: str = answer.json()["error_description"]
    return description


def bearer_headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def is_token_valid(service: Service, token: str) -> bool:
    """Whether the service takes it for an access token of core or portal."""
    status = service.http.get(OWN_MAPPINGS, headers=bearer_headers(token)).status_code
    assert status in (200, 401), status
    return status == 200


def decode_claims(token: str) -> dict[str, Any]:
    """What it says, believed unseen."""
    said: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return said


def create_user(
    service: Service, username: str = "jane.doe", organisation: NewOrganisation | None = None
) -> ApiUser:
    """A subuser with a password and a client of its own, made through the API."""
    root = service.root(organisation)
    body = {"username": username, "password": PASSWORD, "notification": {"email": "false"}}
    made = service.http.post("/m/u/users", json=body, headers=root)
    assert made.status_code == 200, made.text
    user_id = made.json()["user_id"]
    client = service.http.post(f"/m/u/users/client/{user_id}", json={"name": "own"}, headers=root)
    assert client.status_code == 200, client.text
    given = client.json()
    return ApiUser(user_id, username, given["client_id"], given["client_secret"])
