"""DELETE /m/core/reseller/{user_id}"""

from __future__ import annotations

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from tests.answers import problem_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import (
    CUSTOM,
    EMAIL,
    RESELLERS,
    create,
    listed,
    log_in,
    new_reseller,
)
from tests.identity.login.asking import stands
from tests.identity.users.subusers import created as subuser_created
from tests.own_database import sql
from tests.running_service import Service

FULL = {"users_management": True, "open_api": True}


def delete(service: Service, user_id: str, headers: dict[str, str] | None = None) -> object:
    return service.http.delete(f"{RESELLERS}/{user_id}", headers=headers or service.root())


def test_the_account_is_gone_and_its_name_is_free_again(service: Service, company: str) -> None:
    user_id = create(service, company).json()["user_id"]

    answer = service.http.delete(f"{RESELLERS}/{user_id}", headers=service.root())

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert listed(service) == []
    assert log_in(service, EMAIL).status_code == 400
    assert create(service, company).status_code == 200


def test_its_tokens_sessions_and_clients_end_at_once(service: Service, company: str) -> None:
    reseller = new_reseller(service, company, meta=FULL)
    granted = log_in(service, EMAIL).json()
    client = service.http.post(
        f"/m/u/users/client/{reseller.user_id}", json={"name": "own"}, headers=reseller.portal
    ).json()
    fields = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    form = {"grant_type": "client_credentials", **fields}
    by_client = service.http.post("/access_token", data=form).json()
    body = {
        "organisation": service.organisation.organisation_id,
        "username": EMAIL,
        "password": CUSTOM,
    }
    signed_in = service.http.post("/portal/session", json=body).json()
    tokens = [told["access_token"] for told in (granted, by_client, signed_in)]
    assert all(stands(service, token) for token in tokens)

    delete(service, reseller.user_id)

    assert not any(stands(service, token) for token in tokens)
    assert service.http.post("/portal/session/refresh").status_code == 401
    assert service.http.post("/access_token", data=form).status_code == 401
    again = {"grant_type": "refresh_token", "refresh_token": granted["refresh_token"]}
    who = service.organisation
    carried = {**again, "client_id": who.client_id, "client_secret": who.client_secret}
    assert service.http.post("/access_token", data=carried).status_code == 400


def test_its_subusers_their_clients_and_its_roles_go_with_it(
    service: Service, company: str, superuser: Address
) -> None:
    reseller = new_reseller(service, company, meta=FULL)
    subuser = {"username": "sub.user", "password": CUSTOM, "notification": {"email": "false"}}
    made = service.http.post("/m/u/users", json=subuser, headers=reseller.portal).json()
    role = {"name": "theirs", "namespace": "portal", "permissions": ["ReadAccount"]}
    assert service.http.post("/m/auth/rbac/roles", json=role, headers=reseller.portal).is_success
    mapping = {"user_id": made["user_id"], "roles": [{"namespace": "portal", "role": "theirs"}]}
    assert service.http.post(
        "/m/auth/rbac/userroles", json=mapping, headers=reseller.portal
    ).is_success
    client = service.http.post(
        f"/m/u/users/client/{made['user_id']}", json={"name": "sub"}, headers=reseller.portal
    ).json()
    token = log_in(service, "sub.user").json()["access_token"]
    assert stands(service, token)

    delete(service, reseller.user_id)

    assert not stands(service, token)
    assert log_in(service, "sub.user").status_code == 400
    gone = (reseller.user_id, made["user_id"])
    for table, column in (
        ("users", "user_id"),
        ("users", "root_user"),
        ("resellers", "user_id"),
        ("api_clients", "user_id"),
        ("roles", "root_user"),
        ("role_mappings", "user_id"),
        ("token_families", "user_id"),
    ):
        left = sql(superuser, f"SELECT FROM {table} WHERE {column} = ANY($1)", list(gone))
        assert left == [], table
    assert sql(superuser, "SELECT FROM directory WHERE key = $1", client["client_id"]) == []


def test_other_accounts_and_the_organisations_own_users_stay(
    service: Service, company: str
) -> None:
    other = new_reseller(service, company, email="other@example.com")
    subuser_created(service)
    user_id = create(service, company).json()["user_id"]

    delete(service, user_id)

    assert [record["user_id"] for record in listed(service)] == [other.user_id]
    assert service.http.get("/m/portal/me", headers=other.portal).status_code == 200
    users = service.http.get("/m/u/users", headers=service.root()).json()
    assert [user["username"] for user in users] == ["hanako.s"]


def test_the_group_can_be_deleted_only_when_its_accounts_are_gone(
    service: Service, company: str
) -> None:
    user_id = create(service, company).json()["user_id"]
    group = f"/m/core/billinggroup/{company}"

    assert problem_of(service.http.delete(group, headers=service.root()), 409)
    delete(service, user_id)
    assert service.http.delete(group, headers=service.root()).status_code == 200


@pytest.mark.parametrize("name", ["usr_never_was", EMAIL, "%2e%2e", "x" * 3000])
def test_an_account_that_is_not_there_is_404(service: Service, company: str, name: str) -> None:
    create(service, company)

    answer = service.http.delete(f"{RESELLERS}/{name}", headers=service.root())

    assert problem_of(answer, 404)["code"] == "not_found"
    assert len(listed(service)) == 1


def test_users_of_the_organisation_are_no_accounts(service: Service) -> None:
    subuser = subuser_created(service)["user_id"]

    for user_id in (subuser, service.organisation.root_user_id):
        answer = service.http.delete(f"{RESELLERS}/{user_id}", headers=service.root())
        assert problem_of(answer, 404)


def test_the_second_deletion_is_404(service: Service, company: str) -> None:
    user_id = create(service, company).json()["user_id"]
    delete(service, user_id)

    answer = service.http.delete(f"{RESELLERS}/{user_id}", headers=service.root())

    assert problem_of(answer, 404)


def test_an_account_of_a_hidden_group_or_another_organisation_is_404(
    service: Service, company: str
) -> None:
    user_id = create(service, company).json()["user_id"]
    visible = create_group(service, service.root(), billinggroup_id="visible")
    narrowed = service.caller(RoleAction.ModifyReseller, billing_groups=[visible])

    for headers in (narrowed, service.root(service.new_organisation())):
        answer = service.http.delete(f"{RESELLERS}/{user_id}", headers=headers)
        assert problem_of(answer, 404)["code"] == "not_found"
    assert len(listed(service)) == 1


def test_reading_is_not_enough(service: Service, company: str) -> None:
    user_id = create(service, company).json()["user_id"]

    answer = service.http.delete(
        f"{RESELLERS}/{user_id}", headers=service.caller(RoleAction.ReadReseller)
    )

    assert problem_of(answer, 403)["code"] == "role_action_missing"


def test_an_account_is_not_deleted_as_a_subuser(service: Service, company: str) -> None:
    """It is the root of its own users, and not one of the organisation's."""
    user_id = create(service, company).json()["user_id"]

    answer = service.http.delete(f"/m/u/users/{user_id}", headers=service.root())

    assert problem_of(answer, 404)
    assert len(listed(service)) == 1
