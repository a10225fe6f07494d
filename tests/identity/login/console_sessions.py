"""Sign in to a console and refresh its session, with cookies as in a browser."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import Morsel, SimpleCookie

import httpx

from nimbill.foundation.product import Product
from tests.running_service import PASSWORD, Service


def sign_in(
    service: Service,
    product: Product = Product.core,
    *,
    headers: dict[str, str] | None = None,
    fields: Mapping[str, str | None] | None = None,
) -> httpx.Response:
    body = {
        "organisation": service.organisation.organisation_id,
        "username": "root",
        "password": PASSWORD,
        **(fields or {}),
    }
    return service.http.post(f"/{product}/session", json=body, headers=headers)


def sign_in_for_token(service: Service, product: Product = Product.core, **fields: str) -> str:
    """Return the access token of a new session; the test client keeps its cookie."""
    response = sign_in(service, product, fields=fields)
    assert response.status_code == 200, response.text
    token: str = response.json()["access_token"]
    return token


def refresh_session(
    service: Service, product: Product = Product.core, headers: dict[str, str] | None = None
) -> httpx.Response:
    return service.http.post(f"/{product}/session/refresh", headers=headers)


def parse_cookies(response: httpx.Response) -> dict[str, Morsel[str]]:
    cookies: SimpleCookie = SimpleCookie()
    for line in response.headers.get_list("set-cookie"):
        cookies.load(line)
    return dict(cookies)
