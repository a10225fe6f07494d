"""DELETE /m/core/reseller/{user_id}"""

from __future__ import annotations

import httpx

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import (
    CUSTOM_PASSWORD,
    EMAIL,
    RESELLERS,
    create_reseller,
    list_resellers,
    log_in,
    post_reseller,
)
from tests.identity.login.token_requests import credential_fields, is_token_valid
from tests.identity.users.user_requests import add_subuser
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.temporary_database import execute_sql

ALL_FLAGS = {"users_management": True, "open_api": True}


def delete(service: Service, user_id: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return service.http.delete(f"{RESELLERS}/{user_id}", headers=headers or service.root())


def test_the_account_is_deleted_and_its_address_can_be_used_again(
    service: Service, company: str
) -> None:
    user_id = post_reseller(service, company).json()["user_id"]

    response = delete(service, user_id)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_resellers(service) == []
    assert log_in(service, EMAIL).status_code == 400
    assert post_reseller(service, company).status_code == 200


def test_tokens_sessions_and_clients_are_revoked(service: Service, company: str) -> None:
    reseller = create_reseller(service, company, meta=ALL_FLAGS)
    user_tokens = log_in(service, EMAIL).json()
    client = service.http.post(
        f"/m/u/users/client/{reseller.user_id}", json={"name": "own"}, headers=reseller.portal
    ).json()
    client_form = {
        "grant_type": "client_credentials",
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
    }
    client_tokens = service.http.post("/access_token", data=client_form).json()
    credentials = {
        "organisation": service.organisation.organisation_id,
        "username": EMAIL,
        "password": CUSTOM_PASSWORD,
    }
    session = service.http.post("/portal/session", json=credentials).json()
    access_tokens = [each["access_token"] for each in (user_tokens, client_tokens, session)]
    assert all(is_token_valid(service, token) for token in access_tokens)

    delete(service, reseller.user_id)

    assert not any(is_token_valid(service, token) for token in access_tokens)
    assert service.http.post("/portal/session/refresh").status_code == 401
    assert service.http.post("/access_token", data=client_form).status_code == 401
    refresh_form = {
        "grant_type": "refresh_token",
        "refresh_token": user_tokens["refresh_token"],
        **credential_fields(service.organisation),
    }
    assert service.http.post("/access_token", data=refresh_form).status_code == 400


def test_subusers_clients_and_roles_of_the_account_are_deleted(
    service: Service, company: str, superuser: Address
) -> None:
    reseller = create_reseller(service, company, meta=ALL_FLAGS)
    body = {"username": "sub.user", "password": CUSTOM_PASSWORD, "notification": {"email": "false"}}
    subuser = service.http.post("/m/u/users", json=body, headers=reseller.portal).json()
    role = {"name": "theirs", "namespace": "portal", "permissions": ["ReadAccount"]}
    assert service.http.post("/m/auth/rbac/roles", json=role, headers=reseller.portal).is_success
    mapping = {"user_id": subuser["user_id"], "roles": [{"namespace": "portal", "role": "theirs"}]}
    assert service.http.post(
        "/m/auth/rbac/userroles", json=mapping, headers=reseller.portal
    ).is_success
    client = service.http.post(
        f"/m/u/users/client/{subuser['user_id']}", json={"name": "sub"}, headers=reseller.portal
    ).json()
    token = log_in(service, "sub.user").json()["access_token"]
    assert is_token_valid(service, token)

    delete(service, reseller.user_id)

    assert not is_token_valid(service, token)
    assert log_in(service, "sub.user").status_code == 400
    user_ids = [reseller.user_id, subuser["user_id"]]
    for table, column in (
        ("users", "user_id"),
        ("users", "root_user"),
        ("resellers", "user_id"),
        ("api_clients", "user_id"),
        ("roles", "root_user"),
        ("role_mappings", "user_id"),
        ("token_families", "user_id"),
    ):
        rows = execute_sql(superuser, f"SELECT FROM {table} WHERE {column} = ANY($1)", user_ids)
        assert rows == [], table
    assert (
        execute_sql(superuser, "SELECT FROM tenant_lookups WHERE key = $1", client["client_id"])
        == []
    )


def test_other_accounts_and_users_of_the_organisation_are_kept(
    service: Service, company: str
) -> None:
    other = create_reseller(service, company, email="other@example.com")
    add_subuser(service)
    user_id = post_reseller(service, company).json()["user_id"]

    delete(service, user_id)

    assert [record["user_id"] for record in list_resellers(service)] == [other.user_id]
    assert service.http.get("/m/portal/me", headers=other.portal).status_code == 200
    users = service.http.get("/m/u/users", headers=service.root()).json()
    assert [user["username"] for user in users] == ["hanako.s"]


def test_a_billing_group_can_be_deleted_after_its_accounts(service: Service, company: str) -> None:
    user_id = post_reseller(service, company).json()["user_id"]
    path = f"/m/core/billinggroup/{company}"

    assert read_problem(service.http.delete(path, headers=service.root()), 409)
    delete(service, user_id)
    assert service.http.delete(path, headers=service.root()).status_code == 200


def test_unknown_and_deleted_accounts_are_not_found(service: Service, company: str) -> None:
    deleted = post_reseller(service, company, email="deleted@example.com").json()["user_id"]
    delete(service, deleted)
    post_reseller(service, company)

    for user_id in ("usr_unknown", EMAIL, "%2e%2e", "x" * 3000, deleted):
        assert read_problem(delete(service, user_id), 404)["code"] == "not_found"
    assert len(list_resellers(service)) == 1


def test_users_of_the_organisation_are_not_found(service: Service) -> None:
    subuser = add_subuser(service)["user_id"]

    for user_id in (subuser, service.organisation.root_user_id):
        assert read_problem(delete(service, user_id), 404)


def test_hidden_and_foreign_accounts_are_not_found(service: Service, company: str) -> None:
    user_id = post_reseller(service, company).json()["user_id"]
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ModifyReseller, billing_groups=[visible])

    for headers in (restricted, service.root(service.new_organisation())):
        assert read_problem(delete(service, user_id, headers), 404)["code"] == "not_found"
    assert len(list_resellers(service)) == 1


def test_an_account_cannot_be_deleted_as_a_subuser(service: Service, company: str) -> None:
    """It is the root of its own users and no subuser of the organisation."""
    user_id = post_reseller(service, company).json()["user_id"]

    response = service.http.delete(f"/m/u/users/{user_id}", headers=service.root())

    assert read_problem(response, 404)
    assert len(list_resellers(service)) == 1
