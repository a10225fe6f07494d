"""A reseller account logs in to the portal, and to nothing else."""

from __future__ import annotations

import httpx
import pytest

from nimbill.foundation.vocabulary import Product
from nimbill.legacy.audiences import LEGACY
from tests.answers import problem_of
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    Reseller,
    log_in,
    create_reseller,
)
from tests.identity.login.asking import (
    OWN_MAPPINGS,
    User,
    as_client,
    as_user,
    ask,
    bearer,
    claims_of,
    issued,
    refused,
)
from tests.people import token_for
from tests.running_service import PASSWORD, Service

NOT_THE_PORTAL = (Product.core, LEGACY)
ME = "/m/portal/me"
FULL = {"users_management": True, "open_api": True}


@pytest.fixture
def reseller(service: Service, company: str) -> Reseller:
    return create_reseller(service, company, meta=FULL)


def sign_in(service: Service, product: str, username: str = EMAIL) -> httpx.Response:
    body = {
        "organisation": service.organisation.organisation_id,
        "username": username,
        "password": CUSTOM_PASSWORD,
    }
    return service.http.post(f"/{product}/session", json=body)


def own_client(service: Service, who: str, headers: dict[str, str]) -> User:
    answer = service.http.post(f"/m/u/users/client/{who}", json={"name": "own"}, headers=headers)
    assert answer.status_code == 200, answer.text
    given = answer.json()
    return User(given["user_id"], EMAIL, given["client_id"], given["client_secret"])


def subuser(service: Service, reseller: Reseller, username: str = "sub.user") -> str:
    body = {"username": username, "password": CUSTOM_PASSWORD, "notification": {"email": "false"}}
    answer = service.http.post("/m/u/users", json=body, headers=reseller.portal)
    assert answer.status_code == 200, answer.text
    user_id: str = answer.json()["user_id"]
    return user_id


# ── where it gets in ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("spelled", [EMAIL, EMAIL.lower(), EMAIL.upper()])
def test_the_name_is_the_address_in_any_case(
    service: Service, reseller: Reseller, spelled: str
) -> None:
    told = log_in(service, spelled).json()

    assert claims_of(told["access_token"])["sub"] == reseller.user_id
    assert claims_of(told["access_token"])["aud"] == "portal"
    assert service.http.get(ME, headers=bearer(told["access_token"])).status_code == 200


def test_it_signs_in_to_the_portal_console(service: Service, reseller: Reseller) -> None:
    answer = sign_in(service, "portal")

    assert answer.status_code == 200, answer.text
    assert answer.json()["user_id"] == reseller.user_id
    assert answer.json()["username"] == EMAIL
    headers = bearer(answer.json()["access_token"])
    assert service.http.get(ME, headers=headers).status_code == 200
    assert service.http.post("/portal/session/refresh").status_code == 200


def test_its_own_client_gets_portal_tokens(service: Service, reseller: Reseller) -> None:
    client = own_client(service, reseller.user_id, reseller.portal)

    told = issued(service, as_client(client), Product.portal)

    assert service.http.get(ME, headers=bearer(told["access_token"])).status_code == 200


def test_its_own_client_carries_its_own_login(service: Service, reseller: Reseller) -> None:
    client = own_client(service, reseller.user_id, reseller.portal)

    told = issued(service, as_user(client, EMAIL, CUSTOM_PASSWORD), Product.portal)

    assert claims_of(told["access_token"])["sub"] == reseller.user_id


def test_its_subusers_get_into_the_portal_too(service: Service, reseller: Reseller) -> None:
    user_id = subuser(service, reseller)
    client = own_client(service, user_id, reseller.portal)

    by_password = log_in(service, "sub.user")
    by_client = ask(service, as_client(client), Product.portal)

    assert by_password.status_code == by_client.status_code == 200
    assert sign_in(service, "portal", "sub.user").status_code == 200


# ── where it does not ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("product", NOT_THE_PORTAL)
def test_its_right_password_is_as_wrong_elsewhere_as_any_other(
    service: Service, reseller: Reseller, product: Product
) -> None:
    """The same answer as to a stranger, so that nobody learns who has an account."""
    subuser(service, reseller)
    right = [log_in(service, name, CUSTOM_PASSWORD, product) for name in (EMAIL, "sub.user")]
    wrong = log_in(service, "nobody@example.com", CUSTOM_PASSWORD, product)

    for answer in right:
        refused(answer, 400, "invalid_grant")
        assert answer.json() == wrong.json()


def test_it_does_not_sign_in_to_the_core_console(service: Service, reseller: Reseller) -> None:
    subuser(service, reseller)
    stranger = problem_of(sign_in(service, "core", "nobody@example.com"), 401)

    for name in (EMAIL, "sub.user"):
        told = problem_of(sign_in(service, "core", name), 401)
        assert told["code"] == stranger["code"] == "credentials_wrong"
    assert "nimbill_core_session" not in service.http.cookies


@pytest.mark.parametrize("product", NOT_THE_PORTAL)
def test_its_clients_are_unknown_elsewhere(
    service: Service, reseller: Reseller, product: Product
) -> None:
    user_id = subuser(service, reseller)
    for who in (reseller.user_id, user_id):
        client = own_client(service, who, reseller.portal)
        refused(ask(service, as_client(client), product), 401, "invalid_client")
        refused(ask(service, as_user(client, "root", PASSWORD), product), 401, "invalid_client")


@pytest.mark.parametrize("product", NOT_THE_PORTAL)
def test_a_token_that_should_never_have_been_issued_stands_nowhere(
    service: Service, reseller: Reseller, product: Product
) -> None:
    """Signed by our own key: the caller's kind is looked at on every request all the same."""
    user_id = subuser(service, reseller)
    for who in (reseller.user_id, user_id):
        client = own_client(service, who, reseller.portal)
        headers = token_for(service, product, who, client.client_id)
        for path in ("/m/core/billinggroup", OWN_MAPPINGS, "/m/core/reseller"):
            assert service.http.get(path, headers=headers).status_code == 401


def test_a_portal_token_opens_nothing_of_core(service: Service, reseller: Reseller) -> None:
    for path in ("billinggroup", "reseller", "project", "settings", "audit", "accts?vendor=aws"):
        answer = service.http.get(f"/m/core/{path}", headers=reseller.portal)
        assert problem_of(answer, 401)["code"] == "token_of_other_product", path


def test_a_refresh_token_of_the_portal_is_none_of_core(
    service: Service, reseller: Reseller
) -> None:
    told = log_in(service, EMAIL).json()
    form = {
        "grant_type": "refresh_token",
        "refresh_token": told["refresh_token"],
        "client_id": service.organisation.client_id,
        "client_secret": service.organisation.client_secret,
    }

    refused(ask(service, form, Product.core), 400, "invalid_grant")
