"""POST /core/session and POST /portal/session"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from nimbill.database.tenant_lookup import tenant_lookups
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.product import Product
from tests.identity.login.console_sessions import (
    parse_cookies,
    refresh_session,
    sign_in,
    sign_in_for_token,
)
from tests.identity.login.token_requests import (
    PRODUCTS,
    bearer_headers,
    create_user,
    decode_claims,
    is_token_valid,
)
from tests.problem_responses import read_problem
from tests.running_service import PASSWORD, Service, running_service

each_product = pytest.mark.parametrize("product", PRODUCTS)
ORIGIN = "http://127.0.0.1:8080"


# ── signing in ───────────────────────────────────────────────────────────────────────────────────


@each_product
def test_the_response_shows_an_access_token_and_the_user(
    service: Service, product: Product
) -> None:
    response = sign_in(service, product)

    assert response.status_code == 200
    body = response.json()
    assert set(body) == {
        *("access_token", "token_type", "expires_in", "organisation_id", "user_id", "username"),
    }
    assert body["token_type"] == "Bearer"
    assert body["expires_in"] == 86_400
    assert body["organisation_id"] == service.organisation.organisation_id
    assert (body["user_id"], body["username"]) == (service.organisation.root_user_id, "root")
    assert response.headers["cache-control"] == "no-store"
    claims = decode_claims(body["access_token"])
    assert (claims["aud"], claims["sub_type"]) == (product, "user")


def test_a_session_token_is_valid_for_its_own_product_only(service: Service) -> None:
    for product, status in ((Product.core, 200), (Product.portal, 401)):
        token = sign_in_for_token(service, product)

        response = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))
        assert response.status_code == status
        assert is_token_valid(service, token)


def test_a_subuser_can_sign_in(service: Service) -> None:
    user = create_user(service)

    token = sign_in_for_token(service, username=user.username.upper())

    assert decode_claims(token)["sub"] == user.user_id


def test_the_organisation_can_be_given_by_its_short_name(service: Service) -> None:
    organisation = service.organisation

    async def load_short_name() -> str:
        async with transaction(service.resources.engine, organisation.organisation_id) as db:
            stmt = sa.select(tenant_lookups.c.key).where(tenant_lookups.c.kind == "short_name")
            name: str = (await db.execute(stmt)).scalar_one()
            return name

    short_name = service.run(load_short_name)

    for spelling in (short_name, short_name.upper()):
        token = sign_in_for_token(service, organisation=spelling)
        assert decode_claims(token)["tid"] == organisation.organisation_id


WRONG_CREDENTIALS = [
    {"organisation": "org_aaaaaaaaaaaaaaaaaaaaaaaaaa"},
    {"organisation": "no such organisation"},
    {"organisation": "nobody"},
    {"organisation": "%"},
    {"username": "nobody.here"},
    {"username": "' OR 1=1 --"},
    {"password": "guessed 5d"},
    {"password": PASSWORD.upper()},
]


@each_product
def test_the_response_does_not_reveal_which_field_is_wrong(
    service: Service, product: Product
) -> None:
    for wrong in WRONG_CREDENTIALS:
        response = sign_in(service, product, fields=wrong)

        problem = read_problem(response, 401)
        assert problem["code"] == "credentials_wrong", wrong
        assert problem["detail"] == "The organisation, the username or the password is wrong."
        assert response.headers.get_list("set-cookie") == []


def test_a_user_of_another_organisation_is_unknown(service: Service) -> None:
    create_user(service, "only.here")
    other = service.new_organisation()

    response = sign_in(
        service,
        fields={"username": "only.here", "organisation": other.organisation_id},
    )

    assert read_problem(response, 401)["code"] == "credentials_wrong"


def test_every_field_is_required(service: Service) -> None:
    for field in ("organisation", "username", "password"):
        response = sign_in(service, fields={field: None})

        assert read_problem(response, 400)["violations"] == [{"field": field, "rule": "required"}]


@each_product
def test_a_form_is_refused(service: Service, product: Product) -> None:
    """A page of another site can make a browser send a form, but not JSON."""
    body = {
        "organisation": service.organisation.organisation_id,
        "username": "root",
        "password": PASSWORD,
    }

    for request in ({"data": body}, {"files": {name: (None, v) for name, v in body.items()}}):
        response = service.http.post(f"/{product}/session", **request)
        assert read_problem(response, 415)["code"] == "media_type"


# ── cookies ──────────────────────────────────────────────────────────────────────────────────────


@each_product
def test_the_refresh_token_is_in_an_http_only_cookie_of_the_session_path(
    service: Service, product: Product
) -> None:
    response = sign_in(service, product)

    cookies = parse_cookies(response)
    assert set(cookies) == {f"nimbill_{product}_session", "nimbill_device"}
    cookie = cookies[f"nimbill_{product}_session"]
    assert cookie["httponly"] is True
    assert cookie["samesite"].lower() == "strict"
    assert cookie["path"] == f"/{product}/session"
    assert cookie["max-age"] == str(7 * 86_400)
    assert not cookie["secure"]  # over http a secure cookie would not be stored
    assert not cookie["domain"]
    assert cookie.value.split(".")[1] not in response.text


def test_the_device_cookie_is_kept_for_a_year(service: Service) -> None:
    device = parse_cookies(sign_in(service))["nimbill_device"]

    assert device["httponly"] is True
    assert device["samesite"].lower() == "strict"
    assert device["max-age"] == str(365 * 86_400)
    assert [len(part) for part in device.value.split(".")] == [24, 24]


def test_a_valid_device_cookie_is_kept(service: Service) -> None:
    first = parse_cookies(sign_in(service))["nimbill_device"].value

    assert parse_cookies(sign_in(service))["nimbill_device"].value == first


def test_a_forged_device_cookie_is_replaced(service: Service) -> None:
    for forged in ("short", "x" * 25, "x" * 5000, "<script>alert(1)</script>"):
        response = sign_in(service, headers={"Cookie": f"nimbill_device={forged}"})

        assert parse_cookies(response)["nimbill_device"].value != forged


@pytest.fixture(scope="module")
def https_service(running: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(
        running.database_url,
        tmp_path_factory.mktemp("tls"),
        NIMBILL_KEY_FILE=str(running.settings.key_file),
        NIMBILL_BASE_URL="https://Billing.Example.com:443",
        NIMBILL_AUTH_URL="https://login.example.com",
    ) as service:
        yield service


def test_over_https_all_cookies_are_secure(https_service: Service) -> None:
    for cookie in parse_cookies(sign_in(https_service)).values():
        assert cookie["secure"] is True


def test_the_origin_is_compared_in_the_form_of_browsers(https_service: Service) -> None:
    for origin in ("https://billing.example.com", "https://login.example.com"):
        assert sign_in(https_service, headers={"Origin": origin}).status_code == 200
    for origin in (
        "http://billing.example.com",
        "https://example.com",
        "https://billing.example.com:8443",
    ):
        assert sign_in(https_service, headers={"Origin": origin}).status_code == 403


# ── requests of other sites ──────────────────────────────────────────────────────────────────────


OTHER_SITES = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:8081"},
    {"Origin": "https://127.0.0.1"},
    {"Origin": "ftp://127.0.0.1:8080"},
    {"Origin": "http://"},
    {"Origin": "http://["},
    {"Origin": "http://[::1"},
    {"Origin": "http://[x]/"},
    {"Origin": "//127.0.0.1:8080"},
    {"Origin": "http://127.0.0.1:8080.evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "nonsense"},
    {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
]
OWN_SITE: list[dict[str, str]] = [
    {},
    {"Origin": ORIGIN},
    {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"},
    {"Origin": "https://127.0.0.1:8080"},  # a proxy may terminate TLS
    {"Origin": "http://localhost:8080", "Host": "localhost:8080"},
    {"Sec-Fetch-Site": "none"},
]


@each_product
def test_requests_of_other_sites_are_refused(service: Service, product: Product) -> None:
    sign_in_for_token(service, product)

    for headers in OTHER_SITES:
        for response in (
            sign_in(service, product, headers=headers),
            refresh_session(service, product, headers),
        ):
            assert read_problem(response, 403)["code"] == "other_origin", headers
            assert response.headers.get_list("set-cookie") == []


def test_requests_of_own_pages_and_of_scripts_are_accepted(service: Service) -> None:
    for headers in OWN_SITE:
        assert sign_in(service, headers=headers).status_code == 200, headers
        assert refresh_session(service, headers=headers).status_code == 200, headers
