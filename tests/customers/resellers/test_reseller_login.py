"""Reseller accounts log in to the portal and to no other product."""

from __future__ import annotations

import httpx
import pytest

from nimbill.foundation.product import Product
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    Reseller,
    create_reseller,
    log_in,
)
from tests.identity.login.token_requests import (
    OWN_MAPPINGS,
    ApiUser,
    bearer_headers,
    client_form,
    decode_claims,
    issue_tokens,
    password_form,
    read_oauth_error,
    request_token,
)
from tests.problem_responses import read_problem
from tests.running_service import PASSWORD, Service
from tests.subusers import issue_token_headers

OTHER_PRODUCTS = (
    Product.core,
    LEGACY,  # version 3
)
ME = "/m/portal/me"
ALL_FLAGS = {"users_management": True, "open_api": True}


@pytest.fixture
def reseller(service: Service, company: str) -> Reseller:
    return create_reseller(service, company, meta=ALL_FLAGS)


def sign_in(service: Service, product: str, username: str = EMAIL) -> httpx.Response:
    body = {
        "organisation": service.organisation.organisation_id,
        "username": username,
        "password": CUSTOM_PASSWORD,
    }
    return service.http.post(f"/{product}/session", json=body)


def add_client(service: Service, user_id: str, headers: dict[str, str]) -> ApiUser:
    response = service.http.post(
        f"/m/u/users/client/{user_id}", json={"name": "own"}, headers=headers
    )
    assert response.status_code == 200, response.text
    client = response.json()
    return ApiUser(client["user_id"], EMAIL, client["client_id"], client["client_secret"])


def add_subuser(service: Service, reseller: Reseller, username: str = "sub.user") -> str:
    body = {"username": username, "password": CUSTOM_PASSWORD, "notification": {"email": "false"}}
    response = service.http.post("/m/u/users", json=body, headers=reseller.portal)
    assert response.status_code == 200, response.text
    user_id: str = response.json()["user_id"]
    return user_id


# ── the portal ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("spelling", [EMAIL, EMAIL.lower(), EMAIL.upper()])
def test_the_username_is_the_address_in_any_case(
    service: Service, reseller: Reseller, spelling: str
) -> None:
    tokens = log_in(service, spelling).json()

    assert decode_claims(tokens["access_token"])["sub"] == reseller.user_id
    assert decode_claims(tokens["access_token"])["aud"] == "portal"
    assert service.http.get(ME, headers=bearer_headers(tokens["access_token"])).status_code == 200


def test_a_reseller_signs_in_to_the_portal_console(service: Service, reseller: Reseller) -> None:
    response = sign_in(service, "portal")

    assert response.status_code == 200, response.text
    assert response.json()["user_id"] == reseller.user_id
    assert response.json()["username"] == EMAIL
    headers = bearer_headers(response.json()["access_token"])
    assert service.http.get(ME, headers=headers).status_code == 200
    assert service.http.post("/portal/session/refresh").status_code == 200


def test_a_client_of_the_reseller_gets_portal_tokens(service: Service, reseller: Reseller) -> None:
    client = add_client(service, reseller.user_id, reseller.portal)

    tokens = issue_tokens(service, client_form(client), Product.portal)

    assert service.http.get(ME, headers=bearer_headers(tokens["access_token"])).status_code == 200


def test_a_client_of_the_reseller_can_use_the_password_grant(
    service: Service, reseller: Reseller
) -> None:
    client = add_client(service, reseller.user_id, reseller.portal)

    tokens = issue_tokens(service, password_form(client, EMAIL, CUSTOM_PASSWORD), Product.portal)

    assert decode_claims(tokens["access_token"])["sub"] == reseller.user_id


def test_subusers_of_the_reseller_log_in_to_the_portal(
    service: Service, reseller: Reseller
) -> None:
    user_id = add_subuser(service, reseller)
    client = add_client(service, user_id, reseller.portal)

    by_password = log_in(service, "sub.user")
    by_client = request_token(service, client_form(client), Product.portal)

    assert by_password.status_code == by_client.status_code == 200
    assert sign_in(service, "portal", "sub.user").status_code == 200


# ── other products ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("product", OTHER_PRODUCTS)
def test_the_correct_password_is_refused_by_other_products_like_a_wrong_one(
    service: Service, reseller: Reseller, product: Product
) -> None:
    """The response equals that for an unknown user, so it does not reveal which accounts exist."""
    add_subuser(service, reseller)
    right = [log_in(service, name, CUSTOM_PASSWORD, product) for name in (EMAIL, "sub.user")]
    wrong = log_in(service, "nobody@example.com", CUSTOM_PASSWORD, product)

    for response in right:
        read_oauth_error(response, 400, "invalid_grant")
        assert response.json() == wrong.json()


def test_a_reseller_cannot_sign_in_to_the_core_console(
    service: Service, reseller: Reseller
) -> None:
    add_subuser(service, reseller)
    unknown = read_problem(sign_in(service, "core", "nobody@example.com"), 401)

    for name in (EMAIL, "sub.user"):
        problem = read_problem(sign_in(service, "core", name), 401)
        assert problem["code"] == unknown["code"] == "credentials_wrong"
    assert "nimbill_core_session" not in service.http.cookies


@pytest.mark.parametrize("product", OTHER_PRODUCTS)
def test_clients_of_the_reseller_are_unknown_to_other_products(
    service: Service, reseller: Reseller, product: Product
) -> None:
    user_id = add_subuser(service, reseller)
    for client_user in (reseller.user_id, user_id):
        client = add_client(service, client_user, reseller.portal)
        read_oauth_error(
            request_token(service, client_form(client), product), 401, "invalid_client"
        )
        read_oauth_error(
            request_token(service, password_form(client, "root", PASSWORD), product),
            401,
            "invalid_client",
        )


@pytest.mark.parametrize("product", OTHER_PRODUCTS)
def test_a_token_of_another_product_is_refused_even_if_it_is_signed(
    service: Service, reseller: Reseller, product: Product
) -> None:
    """Every request checks the kind of the user, so a token issued by mistake is invalid."""
    user_id = add_subuser(service, reseller)
    for client_user in (reseller.user_id, user_id):
        client = add_client(service, client_user, reseller.portal)
        headers = issue_token_headers(service, product, client_user, client.client_id)
        for path in ("/m/core/billinggroup", OWN_MAPPINGS, "/m/core/reseller"):
            assert service.http.get(path, headers=headers).status_code == 401


def test_a_portal_token_is_refused_by_core(service: Service, reseller: Reseller) -> None:
    for path in ("billinggroup", "reseller", "project", "settings", "audit", "accts?vendor=aws"):
        response = service.http.get(f"/m/core/{path}", headers=reseller.portal)
        assert read_problem(response, 401)["code"] == "token_of_other_product", path


def test_a_refresh_token_of_the_portal_is_refused_by_core(
    service: Service, reseller: Reseller
) -> None:
    tokens = log_in(service, EMAIL).json()
    form = {
        "grant_type": "refresh_token",
        "refresh_token": tokens["refresh_token"],
        "client_id": service.organisation.client_id,
        "client_secret": service.organisation.client_secret,
    }

    read_oauth_error(request_token(service, form, Product.core), 400, "invalid_grant")
