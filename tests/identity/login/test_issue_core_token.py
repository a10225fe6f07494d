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
both_products = pytest.mark.parametrize("product", PRODUCTS)


# ── what a token endpoint answers ────────────────────────────────────────────────────────────────


@both_products
def test_the_answer_has_the_five_stated_fields_and_no_other(
    service: Service, product: Product
) -> None:
    answer = request_token(service, client_form(service.organisation, scope="openid"), product)

    assert answer.status_code == 200
    assert list(answer.json()) == FIELDS
    assert answer.json()["token_type"] == "Bearer"
    assert answer.json()["expires_in"] == 86_400
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["pragma"] == "no-cache"


@both_products
def test_an_access_token_names_the_caller_and_carries_no_permissions(
    service: Service, product: Product
) -> None:
    who = service.organisation

    claims = decode_claims(issue_tokens(service, client_form(who), product)["access_token"])

    issuer = {Product.core: "http://127.0.0.1:8080/core", Product.portal: "http://127.0.0.1:8080"}
    stated = {
        "iss": issuer[product],
        "aud": product,
        "sub": who.root_user_id,
        "sub_type": "client",
        "client_id": who.client_id,
        "tid": who.organisation_id,
        "ep": 1,
        "scope": "openid",
    }
    assert {name: claims[name] for name in stated} == stated
    assert set(claims) == {*stated, "iat", "exp", "jti"}
    assert claims["exp"] - claims["iat"] == 86_400


@both_products
def test_a_token_opens_what_its_user_may_do(service: Service, product: Product) -> None:
    token = issue_tokens(service, client_form(service.organisation), product)["access_token"]

    assert is_token_valid(service, token)


@both_products
@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_the_other_product_does_not_take_it(service: Service, product: Product, grant: str) -> None:
    who = service.organisation
    form = client_form(who) if grant == "client_credentials" else password_form(who, who.username)
    token = issue_tokens(service, form, product)["access_token"]

    answer = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))

    assert answer.status_code == (200 if product == Product.core else 401)


def test_no_two_tokens_are_alike(service: Service) -> None:
    answers = [issue_tokens(service, client_form(service.organisation)) for _ in range(3)]

    for field in ("access_token", "refresh_token"):
        assert len({answer[field] for answer in answers}) == 3


# ── who may log in ───────────────────────────────────────────────────────────────────────────────


@both_products
@pytest.mark.parametrize("spelled", ["{}", "{upper}"])
def test_the_root_user_logs_in_with_its_password(
    service: Service, product: Product, spelled: str
) -> None:
    who = service.organisation
    username = spelled.format(who.username, upper=who.username.upper())

    token = issue_tokens(service, password_form(who, username), product)["access_token"]

    assert decode_claims(token)["sub"] == who.root_user_id
    assert decode_claims(token)["sub_type"] == "user"
    assert is_token_valid(service, token)


@both_products
def test_a_subuser_logs_in_through_any_client_of_its_organisation(
    service: Service, product: Product
) -> None:
    user = create_user(service)

    for client in (user, service.organisation):
        token = issue_tokens(service, password_form(client, user.username), product)["access_token"]

        assert decode_claims(token)["sub"] == user.user_id
        assert decode_claims(token)["client_id"] == client.client_id
        assert is_token_valid(service, token)


def test_a_client_acts_as_the_user_it_was_made_for(service: Service) -> None:
    user = create_user(service)

    token = issue_tokens(service, client_form(user))["access_token"]

    assert decode_claims(token)["sub"] == user.user_id
    answer = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))
    assert answer.status_code == 403  # a subuser without a role may do nothing


@both_products
def test_a_client_of_another_organisation_carries_nobody_here(
    service: Service, product: Product
) -> None:
    user = create_user(service, "only.here")
    elsewhere = service.new_organisation()

    answer = request_token(service, password_form(elsewhere, user.username), product)

    read_oauth_error(answer, 400, "invalid_grant")


def test_a_name_that_stands_in_two_organisations_is_the_one_of_the_client(
    service: Service,
) -> None:
    elsewhere = service.new_organisation()  # its root user has the same name and password

    token = issue_tokens(service, password_form(elsewhere, "root"))["access_token"]

    assert decode_claims(token)["sub"] == elsewhere.root_user_id


# ── every way real clients send the form ─────────────────────────────────────────────────────────


@both_products
def test_multipart_as_specified(service: Service, product: Product) -> None:
    form = client_form(service.organisation, scope="openid")
    parts = {name: (None, value) for name, value in form.items()}

    answer = service.http.post(TOKEN_PATHS[product], files=parts)

    assert answer.request.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert answer.status_code == 200


def test_a_part_may_carry_a_file_name_and_a_type(service: Service) -> None:
    form = password_form(service.organisation, "root")
    parts = {name: (f"{name}.txt", value, "text/plain") for name, value in form.items()}

    assert service.http.post(CORE, files=parts).status_code == 200


def test_the_client_may_name_itself_by_basic(service: Service) -> None:
    who = service.organisation
    header = basic_headers(who.client_id, who.client_secret)

    for form in (
        {"grant_type": "client_credentials"},
        {"grant_type": "client_credentials", "client_id": who.client_id},
        {"grant_type": "password", "username": "root", "password": PASSWORD},
    ):
        assert service.http.post(CORE, data=form, headers=header).status_code == 200, form


def test_basic_credentials_may_be_percent_encoded_as_the_rfc_says(service: Service) -> None:
    who = service.organisation
    spelled = quote_plus(who.client_id).replace("_", "%5F")
    header = basic_headers(spelled, quote_plus(who.client_secret).replace("_", "%5f"))

    answer = service.http.post(CORE, data={"grant_type": "client_credentials"}, headers=header)

    assert answer.status_code == 200


def test_a_bearer_token_sent_along_changes_nothing(service: Service) -> None:
    form = client_form(service.organisation)

    answer = service.http.post(CORE, data=form, headers=bearer_headers("nonsense"))

    assert answer.status_code == 200


@pytest.mark.parametrize("scope", [None, "", "openid"])
def test_scope_is_openid_or_absent(service: Service, scope: str | None) -> None:
    more = {} if scope is None else {"scope": scope}

    assert issue_tokens(service, client_form(service.organisation, **more))


def test_fields_repeated_in_the_query_are_ignored(service: Service) -> None:
    form = client_form(service.organisation)
    wrong = {"grant_type": "nonsense", "client_secret": "wrong", "scope": "everything"}

    assert service.http.post(CORE, data=form, params=wrong).status_code == 200


def test_the_query_alone_is_not_enough(service: Service) -> None:
    form = client_form(service.organisation)

    answer = service.http.post(
        CORE, params=form, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )

    read_oauth_error(answer, 400, "invalid_request")


def test_fields_nobody_asked_for_do_no_harm(service: Service) -> None:
    assert issue_tokens(service, client_form(service.organisation, resource="x", audience="y"))


def test_an_idempotency_key_is_not_looked_at(service: Service) -> None:
    key = {"Idempotency-Key": "same"}
    form = client_form(service.organisation)

    first, second = (service.http.post(CORE, data=form, headers=key) for _ in range(2))

    assert first.json()["access_token"] != second.json()["access_token"]
    assert "idempotent-replayed" not in second.headers
