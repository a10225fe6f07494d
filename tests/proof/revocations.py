"""Requests that end a right, in core and in the portal."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import httpx

from nimbill.foundation.product import Product
from tests.proof.revocable_rights import Right

ANOTHER_PASSWORD = "another 77"
FLAG = "usage_account_menu_budget"  # of the page that a customer's right opens

Headers = Mapping[str, str]
End = Callable[[httpx.Client, Right, Headers], httpx.Response]  # with the headers of its owner


def delete_client(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    path = f"/m/u/users/client/{right.user_id}/{right.client_id}"
    return http.delete(path, headers=owner)


def delete_user(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    return http.delete(f"/m/u/users/{right.user_id}", headers=owner)


def change_password(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    body = {"password": ANOTHER_PASSWORD}
    return http.put(f"/m/u/users/{right.user_id}/password", json=body, headers=owner)


def unmap_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    path = f"/m/auth/rbac/{right.user_id}/userroles"
    return http.patch(path, json={"roles": []}, headers=owner)


def delete_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    return http.delete(_role(right), headers=owner)


def narrow_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    return http.patch(_role(right), json={"permissions": ["ReadUsers"]}, headers=owner)


def rename_role(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    return http.patch(_role(right), json={"name": f"name-{right.user_id[-12:]}"}, headers=owner)


def _role(right: Right) -> str:
    return f"/m/auth/rbac/roles/{right.namespace}/{right.role}"


def sign_out(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    product = Product.portal if right.namespace == "portal" else Product.core
    return http.delete(f"/{product}/session", headers=owner)


# ── customers ────────────────────────────────────────────────────────────────────────────────────


def delete_customer(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    return http.delete(f"/m/core/reseller/{right.customer_id}", headers=owner)


def change_customers_password(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    body = {"input_type": "Custom", "password": ANOTHER_PASSWORD, "notification": False}
    path = f"/m/core/reseller/{right.customer_id}/password"
    return http.put(path, json=body, headers=owner)


def turn_flag_off(http: httpx.Client, right: Right, owner: Headers) -> httpx.Response:
    path = f"/m/core/reseller/{right.customer_id}/meta"
    return http.put(path, json={"meta": {FLAG: False}}, headers=owner)


def end_view(http: httpx.Client, right: Right, _owner: Headers) -> httpx.Response:
    return http.delete(f"/m/portal/views/{right.view_id}", headers=dict(right.headers))
