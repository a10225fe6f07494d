"""A second factor that the organisation requires, and the password grant."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from nimbill.foundation.product import Product
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import CUSTOM_PASSWORD, create_reseller
from tests.identity.login.console_sessions import parse_cookies, refresh_session, sign_in
from tests.identity.login.token_requests import (
    PRODUCTS,
    client_form,
    create_user,
    is_token_valid,
    issue_tokens,
    password_form,
    read_oauth_error,
    request_token,
)
from tests.identity.second_factors.authenticator import Authenticator
from tests.identity.second_factors.factor_requests import (
    AuthenticatorApp,
    add_app,
    add_passkey,
    decode_secret,
    enter_password,
    is_refused,
    prove,
    session_headers,
    set_requirement,
)
from tests.problem_responses import read_problem
from tests.running_service import Service

each_product = pytest.mark.parametrize("product", PRODUCTS)


# ── a required factor ────────────────────────────────────────────────────────────────────────────


def begin_setup(
    service: Service, step: dict[str, Any], kind: str, product: Product = Product.core
) -> httpx.Response:
    body = {"sign_in_token": step["sign_in_token"], "kind": kind}
    return service.http.post(f"/{product}/session/second-factor/setup", json=body)


def complete_setup(
    service: Service,
    registration: dict[str, Any],
    product: Product = Product.core,
    **proof: Any,
) -> httpx.Response:
    body = {
        "registration_token": registration["registration_token"],
        "name": "First",
        **proof,
    }
    return service.http.post(f"/{product}/session/second-factor/setup/confirm", json=body)


@each_product
def test_a_required_factor_is_registered_while_signing_in(
    service: Service, product: Product
) -> None:
    set_requirement(service, staff_needs_second_factor=True)
    step = enter_password(service, product, "second_factor_setup_required")
    registration = begin_setup(service, step, "totp", product).json()
    registration = begin_setup(service, step, "passkey", product).json()  # another choice
    authenticator = Authenticator()
    passkey = authenticator.create(registration["passkey"])

    response = complete_setup(service, registration, product, passkey=passkey)

    assert response.status_code == 200, response.text
    assert is_token_valid(service, response.json()["access_token"])
    assert set(parse_cookies(response)) == {f"nimbill_{product}_session", "nimbill_device"}
    step = enter_password(service, product)
    proof = authenticator.sign(step["passkey"])
    assert prove(service, step, product, passkey=proof).status_code == 200
    rows = service.http.get("/m/core/audit", headers=service.root())
    (added,) = [row for row in rows.json() if row["action"] == "add_second_factor"]
    assert added["actor_name"] == "root"
    assert registration["registration_token"] not in rows.text


def test_the_setup_with_an_app_needs_its_first_code(service: Service) -> None:
    set_requirement(service, staff_needs_second_factor=True)
    step = enter_password(service, code="second_factor_setup_required")
    registration = begin_setup(service, step, "totp").json()
    app = AuthenticatorApp(decode_secret(registration["totp"]["secret"]))

    wrong = complete_setup(service, registration, totp_code=app.code(7))

    assert read_problem(wrong, 400)["violations"][0]["field"] == "totp_code"
    assert complete_setup(service, registration, totp_code=app.code()).status_code == 200


def test_the_setup_registers_the_first_factor_only(service: Service) -> None:
    set_requirement(service, staff_needs_second_factor=True)
    step = enter_password(service, code="second_factor_setup_required")
    late = enter_password(service, code="second_factor_setup_required")
    registration = begin_setup(service, step, "passkey").json()
    late_registration = begin_setup(service, late, "passkey").json()
    first = Authenticator().create(registration["passkey"])
    assert complete_setup(service, registration, passkey=first).status_code == 200

    second = Authenticator().create(late_registration["passkey"])

    for response in (
        complete_setup(service, registration, passkey=first),
        complete_setup(service, late_registration, passkey=second),
        begin_setup(service, late, "passkey"),
    ):
        assert is_refused(response, "sign_in_expired")


def test_a_sign_in_with_a_factor_cannot_register_another(service: Service) -> None:
    add_app(service, session_headers(service))
    step = enter_password(service)

    assert is_refused(begin_setup(service, step, "passkey"), "sign_in_expired")


def test_the_requirement_is_for_staff_or_customers(service: Service) -> None:
    account = create_reseller(
        service, create_billing_group(service, service.root(), billinggroup_id="customer1")
    )
    customer = {"username": account.email, "password": CUSTOM_PASSWORD}
    set_requirement(service, customers_need_second_factor=True)

    enter_password(service, Product.portal, "second_factor_setup_required", **customer)
    assert sign_in(service).status_code == 200

    set_requirement(service, customers_need_second_factor=False, staff_needs_second_factor=True)
    assert sign_in(service, Product.portal, fields=customer).status_code == 200
    enter_password(service, code="second_factor_setup_required")


def test_an_app_lists_customers_under_the_name_of_their_portal(service: Service) -> None:
    account = create_reseller(
        service, create_billing_group(service, service.root(), billinggroup_id="customer1")
    )
    customer = {"username": account.email, "password": CUSTOM_PASSWORD}
    issuers = []

    for name in ("あおぞら クラウド", ""):
        settings = {"portal_name": name, "customers_need_second_factor": True}
        service.http.put("/m/core/settings", json=settings, headers=service.root())
        step = enter_password(service, Product.portal, "second_factor_setup_required", **customer)
        registration = begin_setup(service, step, "totp", Product.portal).json()
        issuers.append(parse_qs(urlsplit(registration["totp"]["uri"]).query)["issuer"])

    assert issuers == [["あおぞら クラウド"], ["Nimbill"]]


def test_sessions_continue_when_a_factor_becomes_required(service: Service) -> None:
    headers = session_headers(service)

    set_requirement(service, staff_needs_second_factor=True)

    assert service.http.get("/m/core/billinggroup", headers=headers).status_code == 200
    assert refresh_session(service).status_code == 200


# ── the password grant ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "product",
    [
        *PRODUCTS,
        LEGACY,  # version 3
    ],
)
def test_the_password_grant_refuses_users_with_a_factor(service: Service, product: Product) -> None:
    user = create_user(service)
    assert request_token(service, password_form(user, user.username), product).status_code == 200
    add_passkey(service, session_headers(service, username=user.username))

    response = request_token(service, password_form(user, user.username), product)

    assert "second factor" in read_oauth_error(response, 400, "invalid_grant")
    issue_tokens(service, client_form(user), product)


def test_the_password_grant_refuses_users_who_must_have_a_factor(service: Service) -> None:
    set_requirement(service, staff_needs_second_factor=True)

    response = request_token(service, password_form(service.organisation, "root"))

    assert "second factor" in read_oauth_error(response, 400, "invalid_grant")
    issue_tokens(service, client_form(service.organisation))
