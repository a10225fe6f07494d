"""DELETE /m/u/users/{user_id}"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.foundation.ids import new_id
from tests.contract.superuser import Superuser, connect_superuser
from tests.identity.login.token_requests import (
    OWN_MAPPINGS,
    PRODUCTS,
    bearer_headers,
    is_token_valid,
    issue_tokens,
    password_form,
    refresh_form,
    request_token,
)
from tests.identity.users.client_requests import add_client, build_client_form
from tests.identity.users.permission_pairs import GROUP_A, MORE_PERMISSIONS, NO_MORE_PERMISSIONS
from tests.identity.users.user_requests import (
    SUBUSER,
    USERS,
    add_subuser,
    list_subusers,
    post_subuser,
)
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.subusers import create_subuser


@pytest.fixture
def database(service: Service, superuser: Address) -> Iterator[Superuser]:
    """A connection that sees the rows of every table."""
    with connect_superuser(service, superuser) as connection:
        yield connection


def delete(service: Service, user_id: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return service.http.delete(f"{USERS}/{user_id}", headers=headers or service.root())


def test_a_deleted_subuser_is_not_listed(service: Service) -> None:
    record, other = add_subuser(service), add_subuser(service, username="another")

    response = delete(service, record["user_id"])

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert list_subusers(service) == [other]
    assert read_problem(delete(service, record["user_id"]), 404)["code"] == "not_found"


def test_every_token_of_the_user_is_revoked(service: Service) -> None:
    record = add_subuser(service)
    client_form = build_client_form(add_client(service, "hanako.s"))
    user_form = password_form(service.organisation, "hanako.s", SUBUSER["password"])
    tokens = [
        issue_tokens(service, form, product)
        for form in (user_form, client_form)
        for product in PRODUCTS
    ]
    assert all(is_token_valid(service, each["access_token"]) for each in tokens)

    delete(service, record["user_id"])

    assert not any(is_token_valid(service, each["access_token"]) for each in tokens)
    for form in (user_form, refresh_form(service.organisation, tokens[0]["refresh_token"])):
        assert request_token(service, form).json()["error"] == "invalid_grant"
    refresh = {"grant_type": "refresh_token", "refresh_token": tokens[2]["refresh_token"]}
    for form in (client_form, client_form | refresh):
        assert request_token(service, form).json()["error"] == "invalid_client"


def test_only_the_audit_log_keeps_rows_of_the_user(service: Service, database: Superuser) -> None:
    subuser = create_subuser(service, core=["ModifyRoles"], portal=["ReadTags"], filters=[GROUP_A])
    issue_tokens(service, password_form(service.organisation, "root"))
    headers = {**subuser.core, "Idempotency-Key": "once"}
    service.http.post(f"{USERS}/client/{subuser.user_id}", json={"name": "more"}, headers=headers)
    organisation_id = service.organisation.organisation_id
    before = database.list_rows(organisation_id)
    tables_before = {table for table, rows in before.items() if subuser.user_id in repr(rows)}
    assert tables_before >= {
        *("users", "api_clients", "role_mappings", "role_filters", "idempotency_keys"),
    }

    delete(service, subuser.user_id)

    after = database.list_rows(organisation_id)
    tables_after = {table for table, rows in after.items() if subuser.user_id in repr(rows)}
    assert tables_after == {"audit_log"}
    clients = {row["client_id"] for row in before["api_clients"]}
    assert len(clients) == 3  # one of the root user, two of the subuser
    assert {row["key"] for row in after["tenant_lookups"]} & clients == {
        service.organisation.client_id
    }
    assert {row["name"] for row in after["roles"]} == {row["name"] for row in before["roles"]}


def test_the_audit_log_keeps_the_username(service: Service) -> None:
    record = add_subuser(service)
    form = password_form(service.organisation, "hanako.s", SUBUSER["password"])
    headers = bearer_headers(issue_tokens(service, form)["access_token"])
    service.http.post(f"{USERS}/client/hanako.s", json={"name": "own"}, headers=headers)

    delete(service, record["user_id"])

    root = service.root()
    by_user = service.http.get("/m/core/audit", params={"actor": record["user_id"]}, headers=root)
    assert [row["actor_name"] for row in by_user.json()] == ["hanako.s"]
    resource = {"resource": f"user/{record['user_id']}"}
    about_user = service.http.get("/m/core/audit", params=resource, headers=root).json()
    assert [row["action"] for row in about_user] == ["delete_subuser", "create_subuser"]
    assert about_user[1]["sent"]["username"] == "hanako.s"


def test_the_name_and_email_of_a_deleted_user_can_be_used_again(service: Service) -> None:
    record = add_subuser(service, email="hanako@example.com")

    delete(service, record["user_id"])

    again = add_subuser(service, email="hanako@example.com")
    assert again["user_id"] != record["user_id"]


def test_the_root_user_cannot_be_deleted(service: Service) -> None:
    root_id = service.organisation.root_user_id
    admin = create_subuser(service, core=["Admin"], portal=["Admin"])

    assert read_problem(delete(service, root_id), 409)["code"] == "root_user"
    assert read_problem(delete(service, root_id, admin.core), 403)["code"] == "holds_more"
    assert service.http.get(USERS, headers=service.root()).status_code == 200


def test_a_user_with_more_permissions_cannot_be_deleted(service: Service) -> None:
    for case, (caller_roles, user_roles) in MORE_PERMISSIONS.items():
        caller = create_subuser(service, **caller_roles)
        user = create_subuser(service, **user_roles)

        response = delete(service, user.user_id, caller.core)

        assert read_problem(response, 403)["code"] == "holds_more", case
        assert service.http.get(OWN_MAPPINGS, headers=user.core).status_code == 200


def test_a_user_with_no_more_permissions_can_be_deleted(service: Service) -> None:
    for case, (caller_roles, user_roles) in NO_MORE_PERMISSIONS.items():
        caller = create_subuser(service, **caller_roles)
        user = create_subuser(service, **user_roles)

        assert delete(service, user.user_id, caller.core).status_code == 200, case
        assert service.http.get(OWN_MAPPINGS, headers=user.core).status_code == 401


@pytest.mark.parametrize("key", [{}, {"Idempotency-Key": "the-last-one"}])
def test_users_may_delete_themselves(service: Service, key: dict[str, str]) -> None:
    subuser = create_subuser(service, core=["ModifyUsers"])

    response = delete(service, subuser.user_id, subuser.core | key)

    assert response.status_code == 200
    assert service.http.get(OWN_MAPPINGS, headers=subuser.core).status_code == 401
    assert list_subusers(service) == []


def test_users_are_found_by_their_id_only(service: Service) -> None:
    record = add_subuser(service)
    other = service.new_organisation()
    foreign = post_subuser(service, service.root(other)).json()

    for user_id in ("hanako.s", new_id("usr"), foreign["user_id"], "client", "usr_", "%20"):
        assert read_problem(delete(service, user_id), 404)["code"] == "not_found", user_id

    assert list_subusers(service) == [record]
    assert list_subusers(service, service.root(other)) == [foreign]
