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

both_products = pytest.mark.parametrize("product", PRODUCTS)
ORIGIN = "http://127.0.0.1:8080"


# ── signing in ───────────────────────────────────────────────────────────────────────────────────


@both_products
def test_signing_in_answers_an_access_token_and_who_one_is(
    service: Service, product: Product
) -> None:
    answer = sign_in(service, product)

    assert answer.status_code == 200
    told = answer.json()
    assert set(told) == {
        *("access_token", "token_type", "expires_in", "organisation_id", "user_id", "username"),
    }
    assert told["token_type"] == "Bearer"
    assert told["expires_in"] == 86_400
    assert told["organisation_id"] == service.organisation.organisation_id
    assert (told["user_id"], told["username"]) == (service.organisation.root_user_id, "root")
    assert answer.headers["cache-control"] == "no-store"
    claims = decode_claims(told["access_token"])
    assert (claims["aud"], claims["sub_type"]) == (product, "user")


def test_a_session_token_reaches_its_own_product_alone(service: Service) -> None:
    for product, status in ((Product.core, 200), (Product.portal, 401)):
        token = sign_in_for_token(service, product)

        answer = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))
        assert answer.status_code == status
        assert is_token_valid(service, token)


def test_a_subuser_signs_in_too(service: Service) -> None:
    user = create_user(service)

    token = sign_in_for_token(service, username=user.username.upper())

    assert decode_claims(token)["sub"] == user.user_id


def test_the_organisation_may_be_named_by_its_short_name(service: Service) -> None:
    who = service.organisation

    async def short_name() -> str:
        async with transaction(service.resources.engine, who.organisation_id) as db:
            named = sa.select(tenant_lookups.c.key).where(tenant_lookups.c.kind == "short_name")
            name: str = (await db.execute(named)).scalar_one()
            return name

    short = service.run(short_name)

    for spelled in (short, short.upper()):
        token = sign_in_for_token(service, organisation=spelled)
        assert decode_claims(token)["tid"] == who.organisation_id


@both_products
@pytest.mark.parametrize(
    "wrong",
    [
        {"organisation": "org_aaaaaaaaaaaaaaaaaaaaaaaaaa"},
        {"organisation": "no such organisation"},
        {"organisation": "nobody"},
        {"organisation": "%"},
        {"username": "nobody.here"},
        {"username": "' OR 1=1 --"},
        {"password": "guessed 5d"},
        {"password": PASSWORD.upper()},
    ],
    ids=repr,
)
def test_whatever_is_wrong_the_answer_is_the_same(
    service: Service, product: Product, wrong: dict[str, str]
) -> None:
    answer = sign_in(service, product, fields=wrong)

    problem = read_problem(answer, 401)
    assert problem["code"] == "credentials_wrong"
    assert problem["detail"] == "The organisation, the username or the password is wrong."
    assert answer.headers.get_list("set-cookie") == []


def test_a_user_of_another_organisation_is_a_stranger_here(service: Service) -> None:
    create_user(service, "only.here")
    elsewhere = service.new_organisation()

    answer = sign_in(
        service,
        fields={"username": "only.here", "organisation": elsewhere.organisation_id},
    )

    assert read_problem(answer, 401)["code"] == "credentials_wrong"


@pytest.mark.parametrize("left_out", ["organisation", "username", "password"])
def test_each_field_is_required(service: Service, left_out: str) -> None:
    answer = sign_in(service, fields={left_out: None})

    assert read_problem(answer, 400)["violations"] == [{"field": left_out, "rule": "required"}]


@both_products
def test_a_form_is_refused(service: Service, product: Product) -> None:
    """A page of another site can make a browser send a form, but no JSON."""
    body = {
        "organisation": service.organisation.organisation_id,
        "username": "root",
        "password": PASSWORD,
    }

    for sent in ({"data": body}, {"files": {name: (None, v) for name, v in body.items()}}):
        answer = service.http.post(f"/{product}/session", **sent)
        assert read_problem(answer, 415)["code"] == "media_type"


# ── the cookies ──────────────────────────────────────────────────────────────────────────────────


@both_products
def test_the_refresh_token_is_in_a_cookie_that_no_script_and_no_other_path_sees(
    service: Service, product: Product
) -> None:
    answer = sign_in(service, product)

    cookies = parse_cookies(answer)
    assert set(cookies) == {f"nimbill_{product}_session", "nimbill_device"}
    held = cookies[f"nimbill_{product}_session"]
    assert held["httponly"] is True
    assert held["samesite"].lower() == "strict"
    assert held["path"] == f"/{product}/session"
    assert held["max-age"] == str(7 * 86_400)
    assert not held["secure"]  # not over plain http, or a laptop could not keep it
    assert not held["domain"]
    assert held.value.split(".")[1] not in answer.text


def test_the_mark_of_a_browser_is_kept_for_a_year(service: Service) -> None:
    device = parse_cookies(sign_in(service))["nimbill_device"]

    assert device["httponly"] is True
    assert device["samesite"].lower() == "strict"
    assert device["max-age"] == str(365 * 86_400)
    assert [len(part) for part in device.value.split(".")] == [24, 24]


def test_a_browser_keeps_its_mark(service: Service) -> None:
    first = parse_cookies(sign_in(service))["nimbill_device"].value

    assert parse_cookies(sign_in(service))["nimbill_device"].value == first


@pytest.mark.parametrize("mark", ["short", "x" * 25, "x" * 5000, "<script>alert(1)</script>"])
def test_a_mark_that_is_none_of_ours_is_replaced(service: Service, mark: str) -> None:
    answer = sign_in(service, headers={"Cookie": f"nimbill_device={mark}"})

    assert parse_cookies(answer)["nimbill_device"].value != mark


@pytest.fixture
def over_tls(running: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(
        running.database_url,
        tmp_path_factory.mktemp("tls"),
        NIMBILL_KEY_FILE=str(running.settings.key_file),
        NIMBILL_BASE_URL="https://Billing.Example.com:443",
        NIMBILL_AUTH_URL="https://login.example.com",
    ) as service:
        yield service


def test_over_https_the_cookies_never_travel_in_clear(over_tls: Service) -> None:
    for cookie in parse_cookies(sign_in(over_tls)).values():
        assert cookie["secure"] is True


def test_the_origin_is_compared_as_browsers_write_it(over_tls: Service) -> None:
    for origin in ("https://billing.example.com", "https://login.example.com"):
        assert sign_in(over_tls, headers={"Origin": origin}).status_code == 200
    for origin in (
        "http://billing.example.com",
        "https://example.com",
        "https://billing.example.com:8443",
    ):
        assert sign_in(over_tls, headers={"Origin": origin}).status_code == 403


# ── pages of other sites ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("path", ["session", "session/refresh"])
@pytest.mark.parametrize(
    "headers",
    [
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
    ],
    ids=repr,
)
@both_products
def test_a_request_from_another_site_is_refused(
    service: Service, product: Product, path: str, headers: dict[str, str]
) -> None:
    sign_in_for_token(service, product)

    answer = (
        sign_in(service, product, headers=headers)
        if path == "session"
        else refresh_session(service, product, headers)
    )

    assert read_problem(answer, 403)["code"] == "other_origin"
    assert answer.headers.get_list("set-cookie") == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": ORIGIN},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://127.0.0.1:8080"},  # TLS may end before us
        {"Origin": "http://localhost:8080", "Host": "localhost:8080"},
        {"Sec-Fetch-Site": "none"},
    ],
    ids=repr,
)
def test_our_own_pages_and_scripts_are_let_in(service: Service, headers: dict[str, str]) -> None:
    assert sign_in(service, headers=headers).status_code == 200
    assert refresh_session(service, headers=headers).status_code == 200
