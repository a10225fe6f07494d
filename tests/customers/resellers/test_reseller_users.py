"""A reseller's subusers, clients and roles are its own, and its flags bind all of them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of
from tests.customers.resellers.accounts import (
    CUSTOM,
    Reseller,
    change_meta,
    log_in,
    logged_in,
    new_reseller,
)
from tests.identity.login.asking import bearer
from tests.identity.users.subusers import created as subuser_created
from tests.people import new_person
from tests.running_service import Service

USERS, RBAC = "/m/u/users", "/m/auth/rbac"
FULL = {"users_management": True, "open_api": True}
SUBUSER = {"username": "sub.user", "password": CUSTOM, "notification": {"email": "false"}}

Calls = list[tuple[str, str, Any]]


@pytest.fixture
def reseller(service: Service, company: str) -> Reseller:
    return new_reseller(service, company, meta=FULL)


def send(service: Service, headers: dict[str, str], call: tuple[str, str, Any]) -> httpx.Response:
    method, path, body = call
    return service.http.request(method, path, json=body, headers=headers)


def add_subuser(service: Service, reseller: Reseller, **changes: Any) -> str:
    answer = service.http.post(USERS, json=SUBUSER | changes, headers=reseller.portal)
    assert answer.status_code == 200, answer.text
    user_id: str = answer.json()["user_id"]
    return user_id


def give_role(
    service: Service, reseller: Reseller, user_id: str, *permissions: str
) -> httpx.Response:
    role = {"name": "own-role", "namespace": "portal", "permissions": list(permissions)}
    made = service.http.post(f"{RBAC}/roles", json=role, headers=reseller.portal)
    assert made.status_code == 200, made.text
    body = {"user_id": user_id, "roles": [{"namespace": "portal", "role": "own-role"}]}
    return service.http.post(f"{RBAC}/userroles", json=body, headers=reseller.portal)


# ── its own ──────────────────────────────────────────────────────────────────────────────────────


def test_its_subusers_are_its_own(service: Service, reseller: Reseller) -> None:
    subuser_created(service)
    user_id = add_subuser(service, reseller)

    def names(headers: dict[str, str]) -> list[tuple[str, str]]:
        users = service.http.get(USERS, headers=headers).json()
        return [(user["user_id"], user["root_user"]) for user in users]

    assert names(reseller.portal) == [(user_id, reseller.user_id)]
    assert user_id not in dict(names(service.root()))


def test_two_resellers_of_one_company_do_not_meet(
    service: Service, reseller: Reseller, company: str
) -> None:
    other = new_reseller(service, company, email="other@example.com", meta=FULL)
    user_id = add_subuser(service, reseller)

    assert service.http.get(USERS, headers=other.portal).json() == []
    for call in (
        ("DELETE", f"{USERS}/{user_id}", None),
        ("PUT", f"{USERS}/{user_id}/password", {"password": "another 123"}),
        ("POST", f"{USERS}/client/{user_id}", {"name": "x"}),
        ("GET", f"{USERS}/clients/{user_id}", None),
        ("GET", f"{USERS}/clients/{reseller.user_id}", None),
        ("GET", f"{RBAC}/sub.user/userroles", None),
        ("GET", f"{RBAC}/sub.user/permissions", None),
    ):
        assert problem_of(send(service, other.portal, call), 404), call
    assert log_in(service, "sub.user").status_code == 200


def test_the_organisations_users_are_out_of_its_reach(service: Service, reseller: Reseller) -> None:
    user = subuser_created(service)
    for name in (user["user_id"], user["username"], service.organisation.root_user_id, "root"):
        for call in (
            ("POST", f"{USERS}/client/{name}", {"name": "x"}),
            ("GET", f"{USERS}/clients/{name}", None),
        ):
            assert problem_of(send(service, reseller.portal, call), 404), call
    for user_id in (user["user_id"], service.organisation.root_user_id):
        for call in (
            ("DELETE", f"{USERS}/{user_id}", None),
            ("PUT", f"{USERS}/{user_id}/password", {"password": "another 123"}),
        ):
            assert problem_of(send(service, reseller.portal, call), 404), call


def test_its_roles_are_its_own(service: Service, reseller: Reseller, company: str) -> None:
    other = new_reseller(service, company, email="other@example.com", meta=FULL)
    role = {"name": "same-name", "namespace": "portal", "permissions": ["ReadAccount"]}

    for headers in (reseller.portal, other.portal, service.root(product=Product.portal)):
        assert service.http.post(f"{RBAC}/roles", json=role, headers=headers).status_code == 200
    assert service.http.delete(f"{RBAC}/roles/portal/same-name", headers=reseller.portal).is_success

    assert service.http.get(f"{RBAC}/roles", headers=reseller.portal).json() == []
    assert service.http.get(f"{RBAC}/roles", headers=other.portal).json() == [role]
    assert service.http.get(f"{RBAC}/roles", headers=service.root()).json() == [role]


def test_it_makes_no_role_of_core(service: Service, reseller: Reseller) -> None:
    for permissions in (["Admin"], ["ReadBillingGroup"], ["ReadUsers"]):
        role = {"name": "of-core", "namespace": "core", "permissions": permissions}
        answer = service.http.post(f"{RBAC}/roles", json=role, headers=reseller.portal)
        assert answer.status_code == 403, permissions


def test_it_maps_its_roles_to_its_own_subusers_alone(service: Service, reseller: Reseller) -> None:
    outsider = subuser_created(service)["user_id"]
    own = add_subuser(service, reseller)

    assert give_role(service, reseller, own, "ReadAccount").status_code == 200

    body = {"user_id": outsider, "roles": [{"namespace": "portal", "role": "own-role"}]}
    answer = service.http.post(f"{RBAC}/userroles", json=body, headers=reseller.portal)
    assert answer.status_code in (400, 404)
    mapped = service.http.get(f"{RBAC}/hanako.s/userroles", headers=service.root())
    assert mapped.json() == []


def test_a_subuser_may_do_nothing_until_a_role_is_mapped(
    service: Service, reseller: Reseller
) -> None:
    user_id = add_subuser(service, reseller)
    headers = bearer(logged_in(service, "sub.user"))
    assert service.http.get(USERS, headers=headers).status_code == 403

    give_role(service, reseller, user_id, "ReadUsers")

    assert service.http.get(USERS, headers=headers).status_code == 200
    assert service.http.post(USERS, json=SUBUSER, headers=headers).status_code == 403


def test_users_made_by_a_subuser_belong_to_the_account_too(
    service: Service, reseller: Reseller
) -> None:
    user_id = add_subuser(service, reseller)
    give_role(service, reseller, user_id, "ModifyUsers")
    headers = bearer(logged_in(service, "sub.user"))

    made = service.http.post(USERS, json=SUBUSER | {"username": "third"}, headers=headers)

    assert made.status_code == 200, made.text
    assert made.json()["root_user"] == reseller.user_id
    assert log_in(service, "third").status_code == 200
    assert log_in(service, "third", product=Product.core).status_code == 400


# ── bound by flags ───────────────────────────────────────────────────────────────────────────────


def of_users(other: str) -> Calls:
    return [
        ("GET", USERS, None),
        ("POST", USERS, SUBUSER | {"username": "another"}),
        ("DELETE", f"{USERS}/{other}", None),
        ("PUT", f"{USERS}/{other}/password", {"password": "another 123"}),
    ]


def of_clients(who: str) -> Calls:
    return [
        ("GET", f"{USERS}/clients/{who}", None),
        ("POST", f"{USERS}/client/{who}", {"name": "x"}),
        ("DELETE", f"{USERS}/client/{who}/cl_never_was", None),
    ]


def is_flag_off(answer: httpx.Response) -> bool:
    return answer.status_code == 403 and answer.json()["code"] == "flag_off"


def test_users_management_gates_the_user_endpoints(service: Service, reseller: Reseller) -> None:
    user_id = add_subuser(service, reseller)
    change_meta(service, reseller.user_id, users_management=False)

    answers = [send(service, reseller.portal, call) for call in of_users(user_id)]

    assert all(is_flag_off(answer) for answer in answers)
    assert log_in(service, "sub.user").status_code == 200
    change_meta(service, reseller.user_id, users_management=True)
    assert not any(is_flag_off(send(service, reseller.portal, c)) for c in of_users(user_id))


def test_open_api_gates_the_client_endpoints_also_for_oneself(
    service: Service, reseller: Reseller
) -> None:
    change_meta(service, reseller.user_id, open_api=False)

    for who in (reseller.user_id, reseller.email):
        answers = [send(service, reseller.portal, call) for call in of_clients(who)]
        assert all(is_flag_off(answer) for answer in answers)

    change_meta(service, reseller.user_id, open_api=True)
    for call in of_clients(reseller.user_id):
        assert not is_flag_off(send(service, reseller.portal, call))


def test_one_flag_opens_nothing_of_the_other(service: Service, reseller: Reseller) -> None:
    user_id = add_subuser(service, reseller)

    change_meta(service, reseller.user_id, users_management=True, open_api=False)
    assert is_flag_off(send(service, reseller.portal, of_clients(user_id)[0]))
    assert service.http.get(USERS, headers=reseller.portal).status_code == 200

    change_meta(service, reseller.user_id, users_management=False, open_api=True)
    assert is_flag_off(send(service, reseller.portal, of_users(user_id)[0]))
    listed = send(service, reseller.portal, of_clients(user_id)[0])
    assert listed.status_code == 200


def test_the_flags_of_an_account_bind_its_subusers(service: Service, reseller: Reseller) -> None:
    user_id = add_subuser(service, reseller)
    give_role(service, reseller, user_id, "Admin")
    headers = bearer(logged_in(service, "sub.user"))
    assert service.http.get(USERS, headers=headers).status_code == 200

    change_meta(service, reseller.user_id, users_management=False, open_api=False)

    for call in (*of_users(reseller.user_id), *of_clients(user_id)):
        assert is_flag_off(send(service, headers, call)), call


def test_ones_own_password_needs_no_flag(service: Service, reseller: Reseller) -> None:
    user_id = add_subuser(service, reseller)
    token = logged_in(service, "sub.user")
    change_meta(service, reseller.user_id, users_management=False, open_api=False)
    body = {"password": "another 123", "old_password": CUSTOM}

    for who, headers in ((user_id, bearer(token)), (reseller.user_id, reseller.portal)):
        answer = service.http.put(f"{USERS}/{who}/password", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
    assert log_in(service, reseller.email, "another 123").status_code == 200


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_flags_bind_nobody_of_the_organisation(service: Service, product: Product) -> None:
    person = new_person(service, core=["Admin"], portal=["Admin"])

    for headers in (service.root(product=product), person.headers(product)):
        for call in (*of_users("usr_never_was"), *of_clients(person.user_id)):
            assert not is_flag_off(send(service, headers, call)), call


def test_a_flag_off_is_told_before_a_missing_right(service: Service, reseller: Reseller) -> None:
    add_subuser(service, reseller)
    headers = bearer(logged_in(service, "sub.user"))
    change_meta(service, reseller.user_id, users_management=False)

    assert is_flag_off(service.http.get(USERS, headers=headers))
