"""POST /v3/access_token"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nimbill.legacy.token_product import LEGACY
from tests.identity.login.token_requests import (
    LEGACY_TOKEN_PATH,
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
from tests.running_service import Service


def post_json(service: Service, body: Any) -> httpx.Response:
    return service.http.post(LEGACY_TOKEN_PATH, json=body)


@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_the_response_has_only_three_fields(service: Service, grant: str) -> None:
    response = post_json(service, client_form(service.organisation) | {"grant_type": grant})

    assert response.status_code == 200
    assert list(response.json()) == ["token_type", "expires_in", "access_token"]
    assert response.json()["token_type"] == "Bearer"
    assert response.json()["expires_in"] == 43_200
    assert response.headers["cache-control"] == "no-store"


def test_a_token_has_issuer_audience_and_lifetime_of_version_3(service: Service) -> None:
    claims = decode_claims(
        post_json(service, client_form(service.organisation)).json()["access_token"]
    )

    assert claims["iss"] == "http://127.0.0.1:8080/v3"
    assert claims["aud"] == "legacy"
    assert claims["exp"] - claims["iat"] == 43_200


def test_the_grant_determines_the_subject_type(service: Service) -> None:
    kinds = {
        grant: decode_claims(
            post_json(service, client_form(service.organisation) | {"grant_type": grant}).json()[
                "access_token"
            ]
        )["sub_type"]
        for grant in ("client_credentials", "password")
    }

    assert kinds == {"client_credentials": "client", "password": "user"}


def test_password_without_username_is_for_the_user_of_the_client(service: Service) -> None:
    user = create_user(service)

    response = post_json(service, client_form(user) | {"grant_type": "password"})

    assert decode_claims(response.json()["access_token"])["sub"] == user.user_id


def test_password_with_username_is_for_that_user(service: Service) -> None:
    user = create_user(service)

    response = post_json(service, password_form(service.organisation, user.username))

    claims = decode_claims(response.json()["access_token"])
    assert claims["sub"] == user.user_id
    assert claims["sub_type"] == "user"


def test_a_urlencoded_form_is_accepted(service: Service) -> None:
    user = create_user(service)

    assert issue_tokens(service, client_form(user), LEGACY)
    told = issue_tokens(service, password_form(user, user.username), LEGACY)
    assert decode_claims(told["access_token"])["sub"] == user.user_id


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json;",
        "application/json; charset=utf-8",
        "Application/JSON",
    ],
)
def test_parameters_and_case_of_the_content_type_are_ignored(
    service: Service, content_type: str
) -> None:
    sent = httpx.Request("POST", "http://x", json=client_form(service.organisation)).content

    response = service.http.post(
        LEGACY_TOKEN_PATH, content=sent, headers={"Content-Type": content_type}
    )

    assert response.status_code == 200


def test_null_means_absent(service: Service) -> None:
    body = client_form(service.organisation) | {"grant_type": "password"}

    response = post_json(service, {**body, "username": None, "password": None, "scope": None})

    assert (
        decode_claims(response.json()["access_token"])["sub"] == service.organisation.root_user_id
    )


def test_other_products_refuse_the_token(service: Service) -> None:
    for grant in ("client_credentials", "password"):
        body = client_form(service.organisation) | {"grant_type": grant}
        token = post_json(service, body).json()["access_token"]

        assert not is_token_valid(service, token)
        response = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))
        assert response.status_code == 401


@pytest.mark.parametrize(
    ("wrong", "status", "error"),
    [
        ({"grant_type": None}, 400, "invalid_request"),
        ({"grant_type": ""}, 400, "invalid_request"),
        ({"grant_type": "refresh_token"}, 400, "unsupported_grant_type"),
        ({"client_id": None}, 401, "invalid_client"),
        ({"client_secret": None}, 401, "invalid_client"),
        ({"client_secret": "guessed 5d"}, 401, "invalid_client"),
        ({"client_id": "stk_agent"}, 401, "invalid_client"),
        ({"client_id": 7}, 400, "invalid_request"),
        ({"client_secret": ["x"]}, 400, "invalid_request"),
        ({"username": {"a": 1}}, 400, "invalid_request"),
        ({"username": None}, 400, "invalid_request"),
        ({"password": None}, 400, "invalid_request"),
        ({"username": ""}, 400, "invalid_request"),
        ({"username": "nobody.here"}, 400, "invalid_grant"),
        ({"password": "guessed 5d"}, 400, "invalid_grant"),
    ],
    ids=repr,
)
def test_an_invalid_field_is_an_oauth_error(
    service: Service, wrong: dict[str, Any], status: int, error: str
) -> None:
    response = post_json(service, {**password_form(service.organisation, "root"), **wrong})

    read_oauth_error(response, status, error)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b'{"grant_type": "password", "grant_type": "password"}',
        b'{"client_id": "\\u0000"}',
        b'{"client_id": "\\ud800"}',
        b'{"client_id": NaN}',
        b"[" * 100_000,
        b'{"client_id": "\xff"}',
    ],
    ids=lambda body: repr(body[:30]),
)
def test_a_body_that_is_not_a_json_object_is_refused(service: Service, body: bytes) -> None:
    response = service.http.post(
        LEGACY_TOKEN_PATH, content=body, headers={"Content-Type": "application/json"}
    )

    read_oauth_error(response, 413 if len(body) > 65_536 else 400, "invalid_request")


def test_other_content_types_are_refused(service: Service) -> None:
    response = service.http.post(
        LEGACY_TOKEN_PATH, content=b"{}", headers={"Content-Type": "text/plain"}
    )

    read_oauth_error(response, 415, "invalid_request")


def test_a_client_cannot_log_in_users_of_another_organisation(service: Service) -> None:
    user = create_user(service, "only.here")
    elsewhere = service.new_organisation()

    read_oauth_error(
        request_token(service, password_form(elsewhere, user.username), LEGACY),
        400,
        "invalid_grant",
    )
