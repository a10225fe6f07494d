"""POST /core/access_token and POST /access_token: refused requests"""

from __future__ import annotations

import base64
from typing import Any

import pytest

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    CORE,
    PRODUCTS,
    TOKEN_PATHS,
    basic_headers,
    client_form,
    create_user,
    credential_fields,
    password_form,
    read_oauth_error,
    request_token,
)
from tests.running_service import PASSWORD, Service

each_product = pytest.mark.parametrize("product", PRODUCTS)


# ── missing and wrong fields ─────────────────────────────────────────────────────────────────────


def without(form: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in form.items() if name not in names}


REQUIRED_FIELDS = [
    ("grant_type", 400, "invalid_request"),
    ("client_id", 401, "invalid_client"),
    ("client_secret", 401, "invalid_client"),
    ("username", 400, "invalid_request"),
    ("password", 400, "invalid_request"),
]


@each_product
def test_the_error_names_a_missing_or_empty_field(service: Service, product: Product) -> None:
    form = password_form(service.organisation, "root")

    for field, status, error in REQUIRED_FIELDS:
        for incomplete in (form | {field: ""}, without(form, field)):
            response = request_token(service, incomplete, product)
            assert field in read_oauth_error(response, status, error)


WRONG_FIELDS: list[tuple[dict[str, str], int, str]] = [
    ({"grant_type": "authorization_code"}, 400, "unsupported_grant_type"),
    ({"grant_type": "Password"}, 400, "unsupported_grant_type"),
    ({"grant_type": "implicit"}, 400, "unsupported_grant_type"),
    ({"scope": "openid profile"}, 400, "invalid_scope"),
    ({"scope": "OPENID"}, 400, "invalid_scope"),
    ({"client_id": "cl_nobody"}, 401, "invalid_client"),
    ({"client_id": "山田"}, 401, "invalid_client"),
    ({"client_secret": "guessed 5d"}, 401, "invalid_client"),
    ({"client_secret": "'; DROP TABLE users; --"}, 401, "invalid_client"),
    ({"username": "nobody.here"}, 400, "invalid_grant"),
    ({"username": "%"}, 400, "invalid_grant"),
    ({"password": "guessed 5d"}, 400, "invalid_grant"),
    ({"password": PASSWORD.upper()}, 400, "invalid_grant"),
    ({"password": PASSWORD + " "}, 400, "invalid_grant"),
    ({"password": "x" * 60_000}, 400, "invalid_grant"),
]


@each_product
def test_a_wrong_field_is_refused_with_the_error_code_of_the_rfc(
    service: Service, product: Product
) -> None:
    form = password_form(service.organisation, "root")

    for wrong, status, error in WRONG_FIELDS:
        response = request_token(service, form | wrong, product)

        read_oauth_error(response, status, error)
        assert next(iter(wrong.values()))[:40] not in response.text


def test_a_failed_client_authentication_names_the_scheme(service: Service) -> None:
    response = request_token(service, client_form(service.organisation, client_secret="wrong"))

    assert response.headers["www-authenticate"] == 'Basic realm="nimbill"'


def test_the_error_does_not_reveal_which_of_two_fields_is_wrong(service: Service) -> None:
    organisation = service.organisation
    unknown_client = request_token(service, client_form(organisation, client_id="cl_nobody"))
    wrong_secret = request_token(service, client_form(organisation, client_secret="wrong"))
    unknown_user = request_token(service, password_form(organisation, "nobody.here"))
    wrong_password = request_token(service, password_form(organisation, "root", "wrong"))

    assert unknown_client.content == wrong_secret.content
    assert unknown_user.content == wrong_password.content


def test_a_deleted_client_is_refused(service: Service) -> None:
    user = create_user(service)
    path = f"/m/u/users/client/{user.user_id}/{user.client_id}"
    assert service.http.delete(path, headers=service.root()).status_code == 200

    read_oauth_error(request_token(service, client_form(user)), 401, "invalid_client")


def test_a_deleted_user_is_refused(service: Service) -> None:
    user = create_user(service)
    deleted = service.http.delete(f"/m/u/users/{user.user_id}", headers=service.root())
    assert deleted.status_code == 200

    read_oauth_error(request_token(service, client_form(user)), 401, "invalid_client")
    read_oauth_error(
        request_token(service, password_form(service.organisation, user.username)),
        400,
        "invalid_grant",
    )


@each_product
def test_a_json_body_is_refused(service: Service, product: Product) -> None:
    response = service.http.post(TOKEN_PATHS[product], json=client_form(service.organisation))

    read_oauth_error(response, 415, "invalid_request")


@pytest.mark.parametrize(
    ("request_body", "status"),
    [
        ({"content": b""}, 415),
        ({"content": b"grant_type=password", "headers": {"Content-Type": "text/plain"}}, 415),
        ({"data": {"grant_type": ["password", "client_credentials"]}}, 400),
        ({"data": {"grant_type": "x" * 70_000}}, 413),
        ({"data": {f"f{n}": "x" for n in range(51)}}, 400),
        ({"data": {"grant_type": "pass\0word"}}, 400),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_an_invalid_form_is_refused(
    service: Service, request_body: dict[str, Any], status: int
) -> None:
    read_oauth_error(service.http.post(CORE, **request_body), status, "invalid_request")


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic eA",
        "Basic " + base64.b64encode(b"\xff\xfe:x").decode(),
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"a%00b:c").decode(),
        "Basic " + base64.b64encode(b"a:b\0c").decode(),
        "Basic " + base64.b64encode(b":").decode(),
    ],
)
def test_invalid_basic_credentials_are_refused(service: Service, header: str) -> None:
    form = {"grant_type": "client_credentials"}

    response = service.http.post(CORE, data=form, headers={"Authorization": header})

    read_oauth_error(response, 401, "invalid_client")


def test_two_different_clients_in_one_request_are_refused(service: Service) -> None:
    own, other = service.organisation, service.new_organisation()
    form = client_form(own)

    response = service.http.post(
        CORE, data=form, headers=basic_headers(other.client_id, other.client_secret)
    )

    read_oauth_error(response, 400, "invalid_request")
    assert credential_fields(own)["client_secret"] not in response.text


@each_product
def test_only_post_is_allowed(service: Service, product: Product) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        assert service.http.request(method, TOKEN_PATHS[product]).status_code == 405
