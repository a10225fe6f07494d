"""PUT and DELETE /v3/role/{role_id}, GET /v3/role"""

from __future__ import annotations

import pytest

from nimbill.foundation.ids import new_id
from tests.legacy.roles.role_requests import (
    EVERYTHING,
    ROLE,
    assert_refused,
    attach_role,
    build_document,
    build_statement,
    create_role,
    create_subuser,
    grant_scope,
    list_own_roles,
    list_roles_of,
    master_headers,
)
from tests.running_service import Service

CHANGED = {"name": "renamed", "scope": build_document(build_statement("Deny"))}


def test_name_and_scope_of_a_role_are_changed(service: Service) -> None:
    role_id = create_role(service)
    (before,) = service.http.get(ROLE, headers=master_headers(service)).json()

    response = service.http.put(f"{ROLE}/{role_id}", data=CHANGED, headers=master_headers(service))

    assert response.status_code == 200
    assert response.json() == {"status": "success", "role_id": role_id}
    (after,) = service.http.get(ROLE, headers=master_headers(service)).json()
    assert after["update_time"] > before["update_time"]
    changed = ("name", "scope", "update_time")
    assert {name: value for name, value in after.items() if name not in changed} == {
        name: value for name, value in before.items() if name not in changed
    }
    assert (after["name"], after["scope"]) == (CHANGED["name"], CHANGED["scope"])


@pytest.mark.parametrize("missing", ["name", "scope"])
def test_both_fields_are_required(service: Service, missing: str) -> None:
    role_id = create_role(service)
    fields = {name: value for name, value in CHANGED.items() if name != missing}

    response = service.http.put(f"{ROLE}/{role_id}", data=fields, headers=master_headers(service))

    assert assert_refused(response, 400, "rule_broken") == [{"field": missing, "rule": "required"}]


def test_an_invalid_scope_changes_nothing(service: Service) -> None:
    role_id = create_role(service)

    response = service.http.put(
        f"{ROLE}/{role_id}", data=CHANGED | {"scope": "{}"}, headers=master_headers(service)
    )

    assert [violation["field"] for violation in assert_refused(response, 400, "rule_broken")] == [
        "scope.Statement"
    ]
    (role,) = service.http.get(ROLE, headers=master_headers(service)).json()
    assert role["scope"] == EVERYTHING


def test_the_new_scope_applies_to_the_next_request(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement())
    assert service.http.get("/v3/alm/stack", headers=person.headers).status_code == 200

    service.http.put(f"{ROLE}/{role_id}", data=CHANGED, headers=master_headers(service))

    assert_refused(service.http.get("/v3/alm/stack", headers=person.headers), 403, "scope_denied")


def test_a_deleted_role_is_detached_from_its_users(service: Service) -> None:
    person, other = create_subuser(service), create_role(service, name="stays")
    role_id = grant_scope(service, person, build_statement("Deny"))
    attach_role(service, person.username, other)

    response = service.http.delete(f"{ROLE}/{role_id}", headers=master_headers(service))

    assert response.status_code == 200
    assert response.json() == {"status": "success", "role_id": role_id}
    assert [role["role_id"] for role in list_own_roles(service, person)] == [other]
    assert [role["role_id"] for role in list_roles_of(service, person.username)] == [other]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_unknown_deleted_and_foreign_roles_are_not_found(service: Service, method: str) -> None:
    deleted, home = create_role(service), service.organisation
    service.http.delete(f"{ROLE}/{deleted}", headers=master_headers(service))
    service.organisation = service.new_organisation()
    foreign = create_role(service)
    service.organisation = home

    for role_id in (new_id("rol"), deleted, foreign):
        response = service.http.request(
            method,
            f"{ROLE}/{role_id}",
            headers=master_headers(service),
            data=CHANGED if method == "PUT" else None,
        )
        assert_refused(response, 404, "not_found")


def test_roles_of_the_organisation_are_listed_oldest_first(service: Service) -> None:
    created = [create_role(service, name=name) for name in ("b", "a", "c")]
    home = service.organisation
    service.organisation = service.new_organisation()
    create_role(service, name="elsewhere")
    service.organisation = home

    listed = service.http.get(ROLE, headers=master_headers(service))

    assert listed.status_code == 200
    assert [role["role_id"] for role in listed.json()] == created


def test_the_list_may_be_empty(service: Service) -> None:
    assert service.http.get(ROLE, headers=master_headers(service)).json() == []
