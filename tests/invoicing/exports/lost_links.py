"""Links whose maker has lost what they were made with, and the ways to lose it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import time_machine

from tests.identity.login.asking import as_user, bearer, issued, new_user
from tests.invoicing.exports.asking import link
from tests.people import new_person
from tests.running_service import PASSWORD, Service


def reader(service: Service, username: str = "jane.doe") -> tuple[str, dict[str, str]]:
    """A subuser who may export, logged in with its password by the organisation's client."""
    user = new_user(service, username)
    role = f"reader-{username.replace('.', '-')}"
    body = {"name": role, "namespace": "core", "permissions": ["ReadBillingGroup"]}
    mapping = {"user_id": user.user_id, "roles": [{"namespace": "core", "role": role}]}
    for path, sent in (("roles", body), ("userroles", mapping)):
        answer = service.http.post(f"/m/auth/rbac/{path}", json=sent, headers=service.root())
        assert answer.status_code == 200, answer.text
    told = issued(service, as_user(service.organisation, username))
    return user.user_id, bearer(told["access_token"])


def signed_in(service: Service) -> dict[str, str]:
    """The root user at the console."""
    body = {
        "organisation": service.organisation.organisation_id,
        "username": "root",
        "password": PASSWORD,
    }
    answer = service.http.post("/core/session", json=body)
    assert answer.status_code == 200, answer.text
    return bearer(answer.json()["access_token"])


def change_password(service: Service, user_id: str) -> None:
    address, body = f"/m/u/users/{user_id}/password", {"password": "another 123"}
    answer = service.http.put(address, json=body, headers=service.root())
    assert answer.status_code == 200, answer.text


def delete_user(service: Service, user_id: str) -> None:
    answer = service.http.delete(f"/m/u/users/{user_id}", headers=service.root())
    assert answer.status_code == 200, answer.text


def lost_links(service: Service) -> dict[str, str]:
    """One of each kind, by what happened after it was made."""
    lost = {}
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=10), tick=False):
        lost["its ten minutes are over"] = link(service, headers=service.root())
    user_id, headers = reader(service, "changed")
    lost["the password was changed"] = link(service, headers=headers)
    change_password(service, user_id)
    user_id, headers = reader(service, "deleted")
    lost["the user was deleted"] = link(service, headers=headers)
    delete_user(service, user_id)
    person = new_person(service, core=["ReadBillingGroup"])
    lost["the client was deleted"] = link(service, headers=person.core)
    client = f"/m/u/users/client/{person.user_id}/{person.client_id}"
    assert service.http.delete(client, headers=service.root()).status_code == 200
    headers = signed_in(service)
    lost["the session was signed out"] = link(service, headers=headers)
    assert service.http.delete("/core/session", headers=headers).status_code == 200
    service.http.cookies.clear()
    return lost
