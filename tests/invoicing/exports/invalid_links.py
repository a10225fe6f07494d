"""Creates links that have become invalid, for every possible reason."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import time_machine

from tests.identity.login.token_requests import (
    bearer_headers,
    create_user,
    issue_tokens,
    password_form,
)
from tests.identity.rbac.stored_groups import insert_groups
from tests.invoicing.exports.export_requests import create_link
from tests.running_service import PASSWORD, Service
from tests.subusers import create_subuser


def create_reader(service: Service, username: str = "jane.doe") -> tuple[str, dict[str, str]]:
    """A subuser who may export, logged in with its password by the organisation's client."""
    user = create_user(service, username)
    role = f"reader-{username.replace('.', '-')}"
    body = {"name": role, "namespace": "core", "permissions": ["ReadBillingGroup"]}
    mapping = {"user_id": user.user_id, "roles": [{"namespace": "core", "role": role}]}
    for path, sent in (("roles", body), ("userroles", mapping)):
        response = service.http.post(f"/m/auth/rbac/{path}", json=sent, headers=service.root())
        assert response.status_code == 200, response.text
    tokens = issue_tokens(service, password_form(service.organisation, username))
    return user.user_id, bearer_headers(tokens["access_token"])


def sign_in(service: Service) -> dict[str, str]:
    """The root user at the console."""
    body = {
        "organisation": service.organisation.organisation_id,
        "username": "root",
        "password": PASSWORD,
    }
    response = service.http.post("/core/session", json=body)
    assert response.status_code == 200, response.text
    return bearer_headers(response.json()["access_token"])


def change_password(service: Service, user_id: str) -> None:
    address, body = f"/m/u/users/{user_id}/password", {"password": "another 123"}
    response = service.http.put(address, json=body, headers=service.root())
    assert response.status_code == 200, response.text


def delete_user(service: Service, user_id: str) -> None:
    response = service.http.delete(f"/m/u/users/{user_id}", headers=service.root())
    assert response.status_code == 200, response.text


def remove_roles(service: Service, user_id: str) -> None:
    path = f"/m/auth/rbac/{user_id}/userroles"
    response = service.http.patch(path, json={"roles": []}, headers=service.root())
    assert response.status_code == 200, response.text


def restrict_user(service: Service, user_id: str) -> None:
    """The file contains all billing groups, and the user may see none of them any more."""
    insert_groups(service, ["cmp_other"])
    rule = {"namespace": "core", "type": "billingGroup", "resource": ["cmp_other"]}
    body = {"user_id": user_id, "roles": [], "filters": [rule]}
    response = service.http.post("/m/auth/rbac/userroles", json=body, headers=service.root())
    assert response.status_code == 200, response.text


def create_invalid_links(service: Service) -> dict[str, str]:
    """Create one link of each kind, keyed by the reason why it is invalid."""
    invalid = {}
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=10), tick=False):
        invalid["its ten minutes are over"] = create_link(service, headers=service.root())
    user_id, headers = create_reader(service, "changed")
    invalid["the password was changed"] = create_link(service, headers=headers)
    change_password(service, user_id)
    user_id, headers = create_reader(service, "deleted")
    invalid["the user was deleted"] = create_link(service, headers=headers)
    delete_user(service, user_id)
    person = create_subuser(service, core=["ReadBillingGroup"])
    invalid["the client was deleted"] = create_link(service, headers=person.core)
    client = f"/m/u/users/client/{person.user_id}/{person.client_id}"
    assert service.http.delete(client, headers=service.root()).status_code == 200
    person = create_subuser(service, core=["ReadBillingGroup"])
    invalid["the permission was removed"] = create_link(service, headers=person.core)
    remove_roles(service, person.user_id)
    person = create_subuser(service, core=["ReadBillingGroup"])
    invalid["the user was restricted"] = create_link(service, headers=person.core)
    restrict_user(service, person.user_id)
    headers = sign_in(service)
    invalid["the session was signed out"] = create_link(service, headers=headers)
    assert service.http.delete("/core/session", headers=headers).status_code == 200
    service.http.cookies.clear()
    return invalid
