"""POST /core/access_token and POST /access_token, when the answer is no"""

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

both_products = pytest.mark.parametrize("product", PRODUCTS)


# ── what is missing or wrong ─────────────────────────────────────────────────────────────────────


def without(form: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in form.items() if name not in names}


@both_products
@pytest.mark.parametrize(
    ("left_out", "status", "error"),
    [
        ("grant_type", 400, "invalid_request"),
        ("client_id", 401, "invalid_client"),
        ("client_secret", 401, "invalid_client"),
        ("username", 400, "invalid_request"),
        ("password", 400, "invalid_request"),
    ],
)
@pytest.mark.parametrize("empty", [False, True])
def test_a_missing_field_is_named(
    service: Service, product: Product, left_out: str, status: int, error: str, *, empty: bool
) -> None:
    form = password_form(service.organisation, "root")
    form = form | {left_out: ""} if empty else without(form, left_out)

    said = read_oauth_error(request_token(service, form, product), status, error)

    assert left_out in said


@both_products
@pytest.mark.parametrize(
    ("wrong", "status", "error"),
    [
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
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_wrong_field_is_refused_in_the_words_of_the_rfc(
    service: Service, product: Product, wrong: dict[str, str], status: int, error: str
) -> None:
    answer = request_token(service, password_form(service.organisation, "root") | wrong, product)

    read_oauth_error(answer, status, error)
    assert next(iter(wrong.values()))[:40] not in answer.text


def test_a_client_that_is_refused_is_told_how_to_come(service: Service) -> None:
    answer = request_token(service, client_form(service.organisation, client_secret="wrong"))

    assert answer.headers["www-authenticate"] == 'Basic realm="nimbill"'


def test_what_is_refused_never_says_what_was_wrong_of_two(service: Service) -> None:
    who = service.organisation
    stranger = request_token(service, client_form(who, client_id="cl_nobody"))
    wrong_secret = request_token(service, client_form(who, client_secret="wrong"))
    nobody = request_token(service, password_form(who, "nobody.here"))
    wrong_password = request_token(service, password_form(who, "root", "wrong"))

    assert stranger.content == wrong_secret.content
    assert nobody.content == wrong_password.content


def test_a_deleted_client_gets_nothing(service: Service) -> None:
    user = create_user(service)
    path = f"/m/u/users/client/{user.user_id}/{user.client_id}"
    assert service.http.delete(path, headers=service.root()).status_code == 200

    read_oauth_error(request_token(service, client_form(user)), 401, "invalid_client")


def test_a_deleted_user_gets_nothing(service: Service) -> None:
    user = create_user(service)
    deleted = service.http.delete(f"/m/u/users/{user.user_id}", headers=service.root())
    assert deleted.status_code == 200

    read_oauth_error(request_token(service, client_form(user)), 401, "invalid_client")
    read_oauth_error(
        request_token(service, password_form(service.organisation, user.username)),
        400,
        "invalid_grant",
    )


@both_products
def test_a_json_body_is_refused(service: Service, product: Product) -> None:
    answer = service.http.post(TOKEN_PATHS[product], json=client_form(service.organisation))

    read_oauth_error(answer, 415, "invalid_request")


@pytest.mark.parametrize(
    ("sent", "status"),
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
def test_a_form_that_is_none_is_refused(
    service: Service, sent: dict[str, Any], status: int
) -> None:
    read_oauth_error(service.http.post(CORE, **sent), status, "invalid_request")


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
def test_basic_credentials_that_cannot_be_read_are_refused(service: Service, header: str) -> None:
    form = {"grant_type": "client_credentials"}

    answer = service.http.post(CORE, data=form, headers={"Authorization": header})

    read_oauth_error(answer, 401, "invalid_client")


def test_two_different_clients_in_one_request_are_refused(service: Service) -> None:
    mine, other = service.organisation, service.new_organisation()
    form = client_form(mine)

    answer = service.http.post(
        CORE, data=form, headers=basic_headers(other.client_id, other.client_secret)
    )

    read_oauth_error(answer, 400, "invalid_request")
    assert credential_fields(mine)["client_secret"] not in answer.text


@both_products
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_only_post_asks_for_a_token(service: Service, product: Product, method: str) -> None:
    assert service.http.request(method, TOKEN_PATHS[product]).status_code == 405
