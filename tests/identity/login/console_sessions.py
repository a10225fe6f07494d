"""A console as a browser shows it: it signs in, keeps its cookies and refreshes."""

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
    """The access token of a new session; its cookie is in the browser."""
    answer = sign_in(service, product, fields=fields)
    assert answer.status_code == 200, answer.text
    token: str = answer.json()["access_token"]
    return token


def refresh_session(
    service: Service, product: Product = Product.core, headers: dict[str, str] | None = None
) -> httpx.Response:
    return service.http.post(f"/{product}/session/refresh", headers=headers)


def parse_cookies(answer: httpx.Response) -> dict[str, Morsel[str]]:
    read: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_list("set-cookie"):
        read.load(line)
    return dict(read)
