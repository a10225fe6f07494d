"""POST /core/access_token and POST /access_token"""

from __future__ import annotations

from urllib.parse import quote_plus

import pytest

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    CORE,
    PRODUCTS,
    TOKEN_PATHS,
    basic_headers,
    bearer_headers,
    client_form,
    create_user,
    decode_claims,
    is_token_valid,
    issue_tokens,
    password_form,
    read_oauth_error,
    request_token,
)
from tests.running_service import PASSWORD, Service

FIELDS = ["access_token", "token_type", "expires_in", "id_token", "refresh_token"]
each_product = pytest.mark.parametrize("product", PRODUCTS)


# ── the response ─────────────────────────────────────────────────────────────────────────────────


@each_product
def test_the_response_has_every_specified_field_and_no_other(
    service: Service, product: Product
) -> None:
    response = request_token(service, client_form(service.organisation, scope="openid"), product)

    assert response.status_code == 200
    assert list(response.json()) == FIELDS
    assert response.json()["token_type"] == "Bearer"
    assert response.json()["expires_in"] == 86_400
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["pragma"] == "no-cache"


@each_product
def test_an_access_token_contains_the_caller_but_no_permissions(
    service: Service, product: Product
) -> None:
    organisation = service.organisation

    claims = decode_claims(
        issue_tokens(service, client_form(organisation), product)["access_token"]
    )

    issuer = {Product.core: "http://127.0.0.1:8080/core", Product.portal: "http://127.0.0.1:8080"}
    expected = {
        "iss": issuer[product],
        "aud": product,
        "sub": organisation.root_user_id,
        "sub_type": "client",
        "client_id": organisation.client_id,
        "tid": organisation.organisation_id,
        "ep": 1,
        "scope": "openid",
    }
    assert {name: claims[name] for name in expected} == expected
    assert set(claims) == {*expected, "iat", "exp", "jti", "sid"}
    assert claims["exp"] - claims["iat"] == 86_400


@each_product
def test_an_access_token_is_accepted(service: Service, product: Product) -> None:
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]

    assert is_token_valid(service, token)


@each_product
@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_the_other_product_refuses_the_token(
    service: Service, product: Product, grant: str
) -> None:
    organisation = service.organisation
    form = (
        client_form(organisation)
        if grant == "client_credentials"
        else password_form(organisation, organisation.username)
    )
    token = issue_tokens(service, form, product)["access_token"]

    response = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))

    assert response.status_code == (200 if product == Product.core else 401)


def test_all_tokens_differ(service: Service) -> None:
    issued = [issue_tokens(service, client_form(service.organisation)) for _ in range(3)]

    for field in ("access_token", "refresh_token"):
        assert len({tokens[field] for tokens in issued}) == 3


# ── users and clients ────────────────────────────────────────────────────────────────────────────


@each_product
def test_the_root_user_logs_in_with_its_name_in_any_case(
    service: Service, product: Product
) -> None:
    organisation = service.organisation

    for username in (organisation.username, organisation.username.upper()):
        form = password_form(organisation, username)
        token = issue_tokens(service, form, product)["access_token"]

        assert decode_claims(token)["sub"] == organisation.root_user_id
        assert decode_claims(token)["sub_type"] == "user"
        assert is_token_valid(service, token)


@each_product
def test_a_subuser_logs_in_through_any_client_of_its_organisation(
    service: Service, product: Product
) -> None:
    user = create_user(service)

    for client in (user, service.organisation):
        token = issue_tokens(service, password_form(client, user.username), product)["access_token"]

        assert decode_claims(token)["sub"] == user.user_id
        assert decode_claims(token)["client_id"] == client.client_id
        assert is_token_valid(service, token)


def test_a_client_acts_as_its_user(service: Service) -> None:
    user = create_user(service)

    token = issue_tokens(service, client_form(user))["access_token"]

    assert decode_claims(token)["sub"] == user.user_id
    response = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))
    assert response.status_code == 403  # a subuser without a role has no permissions


@each_product
def test_a_client_of_another_organisation_cannot_log_a_user_in(
    service: Service, product: Product
) -> None:
    user = create_user(service, "only.here")
    other = service.new_organisation()

    response = request_token(service, password_form(other, user.username), product)

    read_oauth_error(response, 400, "invalid_grant")


def test_the_user_is_looked_up_in_the_organisation_of_the_client(
    service: Service,
) -> None:
    other = service.new_organisation()  # its root user has the same name and password

    token = issue_tokens(service, password_form(other, "root"))["access_token"]

    assert decode_claims(token)["sub"] == other.root_user_id


# ── forms of real clients ────────────────────────────────────────────────────────────────────────


@each_product
def test_a_multipart_form_is_accepted(service: Service, product: Product) -> None:
    form = client_form(service.organisation, scope="openid")
    parts = {name: (None, value) for name, value in form.items()}

    response = service.http.post(TOKEN_PATHS[product], files=parts)

    assert response.request.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert response.status_code == 200


def test_a_part_may_have_a_file_name_and_a_type(service: Service) -> None:
    form = password_form(service.organisation, "root")
    parts = {name: (f"{name}.txt", value, "text/plain") for name, value in form.items()}

    assert service.http.post(CORE, files=parts).status_code == 200


def test_the_client_may_use_basic_authentication(service: Service) -> None:
    organisation = service.organisation
    header = basic_headers(organisation.client_id, organisation.client_secret)

    for form in (
        {"grant_type": "client_credentials"},
        {"grant_type": "client_credentials", "client_id": organisation.client_id},
        {"grant_type": "password", "username": "root", "password": PASSWORD},
    ):
        assert service.http.post(CORE, data=form, headers=header).status_code == 200, form


def test_basic_credentials_may_be_percent_encoded(service: Service) -> None:
    organisation = service.organisation
    client_id = quote_plus(organisation.client_id).replace("_", "%5F")
    header = basic_headers(client_id, quote_plus(organisation.client_secret).replace("_", "%5f"))

    response = service.http.post(CORE, data={"grant_type": "client_credentials"}, headers=header)

    assert response.status_code == 200


def test_a_bearer_token_is_ignored(service: Service) -> None:
    form = client_form(service.organisation)

    response = service.http.post(CORE, data=form, headers=bearer_headers("nonsense"))

    assert response.status_code == 200


def test_the_scope_is_openid_empty_or_absent(service: Service) -> None:
    variants: list[dict[str, str]] = [{}, {"scope": ""}, {"scope": "openid"}]
    for fields in variants:
        assert issue_tokens(service, client_form(service.organisation, **fields))


def test_fields_in_the_query_are_ignored(service: Service) -> None:
    form = client_form(service.organisation)
    wrong = {"grant_type": "nonsense", "client_secret": "wrong", "scope": "everything"}

    assert service.http.post(CORE, data=form, params=wrong).status_code == 200


def test_fields_in_the_query_only_are_refused(service: Service) -> None:
    form = client_form(service.organisation)

    response = service.http.post(
        CORE, params=form, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )

    read_oauth_error(response, 400, "invalid_request")


def test_unknown_fields_are_ignored(service: Service) -> None:
    assert issue_tokens(service, client_form(service.organisation, resource="x", audience="y"))


def test_an_idempotency_key_is_ignored(service: Service) -> None:
    key = {"Idempotency-Key": "same"}
    form = client_form(service.organisation)

    first, second = (service.http.post(CORE, data=form, headers=key) for _ in range(2))

    assert first.json()["access_token"] != second.json()["access_token"]
    assert "idempotent-replayed" not in second.headers
