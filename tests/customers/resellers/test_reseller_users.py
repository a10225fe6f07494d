"""Users, clients and roles of a reseller account, and the flags that restrict them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nimbill.foundation.product import Product
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    Reseller,
    change_meta,
    create_reseller,
    log_in,
    log_in_for_token,
)
from tests.identity.login.token_requests import bearer_headers
from tests.identity.users.user_requests import add_subuser as add_organisation_subuser
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser

USERS, RBAC = "/m/u/users", "/m/auth/rbac"
ALL_FLAGS = {"users_management": True, "open_api": True}
SUBUSER = {"username": "sub.user", "password": CUSTOM_PASSWORD, "notification": {"email": "false"}}

Requests = list[tuple[str, str, Any]]  # method, path, body


@pytest.fixture
def reseller(service: Service, company: str) -> Reseller:
    return create_reseller(service, company, meta=ALL_FLAGS)


def send(
    service: Service, headers: dict[str, str], request: tuple[str, str, Any]
) -> httpx.Response:
    method, path, body = request
    return service.http.request(method, path, json=body, headers=headers)


def add_subuser(service: Service, reseller: Reseller, **changes: Any) -> str:
    response = service.http.post(USERS, json=SUBUSER | changes, headers=reseller.portal)
    assert response.status_code == 200, response.text
    user_id: str = response.json()["user_id"]
    return user_id


def map_new_role(
    service: Service, reseller: Reseller, user_id: str, *permissions: str
) -> httpx.Response:
    role = {"name": "own-role", "namespace": "portal", "permissions": list(permissions)}
    created = service.http.post(f"{RBAC}/roles", json=role, headers=reseller.portal)
    assert created.status_code == 200, created.text
    body = {"user_id": user_id, "roles": [{"namespace": "portal", "role": "own-role"}]}
    return service.http.post(f"{RBAC}/userroles", json=body, headers=reseller.portal)


# ── separation from other users ──────────────────────────────────────────────────────────────────


def test_subusers_are_visible_to_their_reseller_only(service: Service, reseller: Reseller) -> None:
    add_organisation_subuser(service)
    user_id = add_subuser(service, reseller)

    def list_users(headers: dict[str, str]) -> list[tuple[str, str]]:
        users = service.http.get(USERS, headers=headers).json()
        return [(user["user_id"], user["root_user"]) for user in users]

    assert list_users(reseller.portal) == [(user_id, reseller.user_id)]
    assert user_id not in dict(list_users(service.root()))


def test_two_resellers_of_one_company_cannot_reach_each_others_users(
    service: Service, reseller: Reseller, company: str
) -> None:
    other = create_reseller(service, company, email="other@example.com", meta=ALL_FLAGS)
    user_id = add_subuser(service, reseller)

    assert service.http.get(USERS, headers=other.portal).json() == []
    for request in (
        ("DELETE", f"{USERS}/{user_id}", None),
        ("PUT", f"{USERS}/{user_id}/password", {"password": "another 123"}),
        ("POST", f"{USERS}/client/{user_id}", {"name": "x"}),
        ("GET", f"{USERS}/clients/{user_id}", None),
        ("GET", f"{USERS}/clients/{reseller.user_id}", None),
        ("GET", f"{RBAC}/sub.user/userroles", None),
        ("GET", f"{RBAC}/sub.user/permissions", None),
    ):
        assert read_problem(send(service, other.portal, request), 404), request
    assert log_in(service, "sub.user").status_code == 200


def test_users_of_the_organisation_are_not_found(service: Service, reseller: Reseller) -> None:
    user = add_organisation_subuser(service)
    for name in (user["user_id"], user["username"], service.organisation.root_user_id, "root"):
        for request in (
            ("POST", f"{USERS}/client/{name}", {"name": "x"}),
            ("GET", f"{USERS}/clients/{name}", None),
        ):
            assert read_problem(send(service, reseller.portal, request), 404), request
    for user_id in (user["user_id"], service.organisation.root_user_id):
        for request in (
            ("DELETE", f"{USERS}/{user_id}", None),
            ("PUT", f"{USERS}/{user_id}/password", {"password": "another 123"}),
        ):
            assert read_problem(send(service, reseller.portal, request), 404), request


def test_each_reseller_has_its_own_roles(
    service: Service, reseller: Reseller, company: str
) -> None:
    other = create_reseller(service, company, email="other@example.com", meta=ALL_FLAGS)
    role = {"name": "same-name", "namespace": "portal", "permissions": ["ReadAccount"]}

    for headers in (reseller.portal, other.portal, service.root(product=Product.portal)):
        assert service.http.post(f"{RBAC}/roles", json=role, headers=headers).status_code == 200
    assert service.http.delete(f"{RBAC}/roles/portal/same-name", headers=reseller.portal).is_success

    assert service.http.get(f"{RBAC}/roles", headers=reseller.portal).json() == []
    assert service.http.get(f"{RBAC}/roles", headers=other.portal).json() == [role]
    assert service.http.get(f"{RBAC}/roles", headers=service.root()).json() == [role]


def test_a_reseller_cannot_create_core_roles(service: Service, reseller: Reseller) -> None:
    for permissions in (["Admin"], ["ReadBillingGroup"], ["ReadUsers"]):
        role = {"name": "core-role", "namespace": "core", "permissions": permissions}
        response = service.http.post(f"{RBAC}/roles", json=role, headers=reseller.portal)
        assert response.status_code == 403, permissions


def test_a_reseller_maps_roles_to_its_own_subusers_only(
    service: Service, reseller: Reseller
) -> None:
    outsider = add_organisation_subuser(service)["user_id"]
    own = add_subuser(service, reseller)

    assert map_new_role(service, reseller, own, "ReadAccount").status_code == 200

    body = {"user_id": outsider, "roles": [{"namespace": "portal", "role": "own-role"}]}
    response = service.http.post(f"{RBAC}/userroles", json=body, headers=reseller.portal)
    assert response.status_code in (400, 404)
    mapped = service.http.get(f"{RBAC}/hanako.s/userroles", headers=service.root())
    assert mapped.json() == []


def test_a_subuser_has_no_permissions_until_a_role_is_mapped(
    service: Service, reseller: Reseller
) -> None:
    user_id = add_subuser(service, reseller)
    headers = bearer_headers(log_in_for_token(service, "sub.user"))
    assert service.http.get(USERS, headers=headers).status_code == 403

    map_new_role(service, reseller, user_id, "ReadUsers")

    assert service.http.get(USERS, headers=headers).status_code == 200
    assert service.http.post(USERS, json=SUBUSER, headers=headers).status_code == 403


def test_users_created_by_a_subuser_belong_to_the_reseller(
    service: Service, reseller: Reseller
) -> None:
    user_id = add_subuser(service, reseller)
    map_new_role(service, reseller, user_id, "ModifyUsers")
    headers = bearer_headers(log_in_for_token(service, "sub.user"))

    created = service.http.post(USERS, json=SUBUSER | {"username": "third"}, headers=headers)

    assert created.status_code == 200, created.text
    assert created.json()["root_user"] == reseller.user_id
    assert log_in(service, "third").status_code == 200
    assert log_in(service, "third", product=Product.core).status_code == 400


# ── flags ────────────────────────────────────────────────────────────────────────────────────────


def user_requests(user_id: str) -> Requests:
    return [
        ("GET", USERS, None),
        ("POST", USERS, SUBUSER | {"username": "another"}),
        ("DELETE", f"{USERS}/{user_id}", None),
        ("PUT", f"{USERS}/{user_id}/password", {"password": "another 123"}),
    ]


def client_requests(user: str) -> Requests:
    return [
        ("GET", f"{USERS}/clients/{user}", None),
        ("POST", f"{USERS}/client/{user}", {"name": "x"}),
        ("DELETE", f"{USERS}/client/{user}/cl_unknown", None),
    ]


def is_flag_off(response: httpx.Response) -> bool:
    return response.status_code == 403 and response.json()["code"] == "flag_off"


def test_users_management_enables_the_user_routes(service: Service, reseller: Reseller) -> None:
    user_id = add_subuser(service, reseller)
    change_meta(service, reseller.user_id, users_management=False)

    responses = [send(service, reseller.portal, request) for request in user_requests(user_id)]

    assert all(is_flag_off(response) for response in responses)
    assert log_in(service, "sub.user").status_code == 200
    change_meta(service, reseller.user_id, users_management=True)
    assert not any(
        is_flag_off(send(service, reseller.portal, each)) for each in user_requests(user_id)
    )


def test_open_api_enables_the_client_routes_also_for_own_clients(
    service: Service, reseller: Reseller
) -> None:
    change_meta(service, reseller.user_id, open_api=False)

    for user in (reseller.user_id, reseller.email):
        responses = [send(service, reseller.portal, request) for request in client_requests(user)]
        assert all(is_flag_off(response) for response in responses)

    change_meta(service, reseller.user_id, open_api=True)
    for request in client_requests(reseller.user_id):
        assert not is_flag_off(send(service, reseller.portal, request))


def test_each_flag_enables_its_own_routes_only(service: Service, reseller: Reseller) -> None:
    user_id = add_subuser(service, reseller)

    change_meta(service, reseller.user_id, users_management=True, open_api=False)
    assert is_flag_off(send(service, reseller.portal, client_requests(user_id)[0]))
    assert service.http.get(USERS, headers=reseller.portal).status_code == 200

    change_meta(service, reseller.user_id, users_management=False, open_api=True)
    assert is_flag_off(send(service, reseller.portal, user_requests(user_id)[0]))
    response = send(service, reseller.portal, client_requests(user_id)[0])
    assert response.status_code == 200


def test_the_flags_of_a_reseller_restrict_its_subusers(
    service: Service, reseller: Reseller
) -> None:
    user_id = add_subuser(service, reseller)
    map_new_role(service, reseller, user_id, "Admin")
    headers = bearer_headers(log_in_for_token(service, "sub.user"))
    assert service.http.get(USERS, headers=headers).status_code == 200

    change_meta(service, reseller.user_id, users_management=False, open_api=False)

    for request in (*user_requests(reseller.user_id), *client_requests(user_id)):
        assert is_flag_off(send(service, headers, request)), request


def test_changing_the_own_password_needs_no_flag(service: Service, reseller: Reseller) -> None:
    user_id = add_subuser(service, reseller)
    token = log_in_for_token(service, "sub.user")
    change_meta(service, reseller.user_id, users_management=False, open_api=False)
    body = {"password": "another 123", "old_password": CUSTOM_PASSWORD}

    for user, headers in ((user_id, bearer_headers(token)), (reseller.user_id, reseller.portal)):
        response = service.http.put(f"{USERS}/{user}/password", json=body, headers=headers)
        assert response.status_code == 200, response.text
    assert log_in(service, reseller.email, "another 123").status_code == 200


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_flags_do_not_restrict_users_of_the_organisation(
    service: Service, product: Product
) -> None:
    subuser = create_subuser(service, core=["Admin"], portal=["Admin"])

    for headers in (service.root(product=product), subuser.headers(product)):
        for request in (*user_requests("usr_unknown"), *client_requests(subuser.user_id)):
            assert not is_flag_off(send(service, headers, request)), request


def test_a_disabled_flag_is_reported_before_a_missing_permission(
    service: Service, reseller: Reseller
) -> None:
    add_subuser(service, reseller)
    headers = bearer_headers(log_in_for_token(service, "sub.user"))
    change_meta(service, reseller.user_id, users_management=False)

    assert is_flag_off(service.http.get(USERS, headers=headers))
