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

NEW = {"name": "renamed", "scope": build_document(build_statement("Deny"))}


def test_a_role_gets_another_name_and_scope(service: Service) -> None:
    role_id = create_role(service)
    (before,) = service.http.get(ROLE, headers=master_headers(service)).json()

    answer = service.http.put(f"{ROLE}/{role_id}", data=NEW, headers=master_headers(service))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success", "role_id": role_id}
    (after,) = service.http.get(ROLE, headers=master_headers(service)).json()
    assert after["update_time"] > before["update_time"]
    changed = ("name", "scope", "update_time")
    assert {k: v for k, v in after.items() if k not in changed} == {
        k: v for k, v in before.items() if k not in changed
    }
    assert (after["name"], after["scope"]) == (NEW["name"], NEW["scope"])


@pytest.mark.parametrize("missing", ["name", "scope"])
def test_both_fields_are_required(service: Service, missing: str) -> None:
    role_id = create_role(service)
    fields = {name: value for name, value in NEW.items() if name != missing}

    answer = service.http.put(f"{ROLE}/{role_id}", data=fields, headers=master_headers(service))

    assert assert_refused(answer, 400, "rule_broken") == [{"field": missing, "rule": "required"}]


def test_an_unsound_scope_changes_nothing(service: Service) -> None:
    role_id = create_role(service)

    answer = service.http.put(
        f"{ROLE}/{role_id}", data=NEW | {"scope": "{}"}, headers=master_headers(service)
    )

    assert [one["field"] for one in assert_refused(answer, 400, "rule_broken")] == [
        "scope.Statement"
    ]
    (role,) = service.http.get(ROLE, headers=master_headers(service)).json()
    assert role["scope"] == EVERYTHING


def test_whoever_has_it_is_bound_by_the_new_scope_at_once(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement())
    assert service.http.get("/v3/alm/stack", headers=person.headers).status_code == 200

    service.http.put(f"{ROLE}/{role_id}", data=NEW, headers=master_headers(service))

    assert_refused(service.http.get("/v3/alm/stack", headers=person.headers), 403, "scope_denied")


def test_a_role_is_deleted_and_goes_from_who_has_it(service: Service) -> None:
    person, other = create_subuser(service), create_role(service, name="stays")
    role_id = grant_scope(service, person, build_statement("Deny"))
    attach_role(service, person.username, other)

    answer = service.http.delete(f"{ROLE}/{role_id}", headers=master_headers(service))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success", "role_id": role_id}
    assert [role["role_id"] for role in list_own_roles(service, person)] == [other]
    assert [role["role_id"] for role in list_roles_of(service, person.username)] == [other]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_an_unknown_a_deleted_and_a_foreign_role_are_not_found(
    service: Service, method: str
) -> None:
    deleted, home = create_role(service), service.organisation
    service.http.delete(f"{ROLE}/{deleted}", headers=master_headers(service))
    service.organisation = service.new_organisation()
    foreign = create_role(service)
    service.organisation = home

    for role_id in (new_id("rol"), deleted, foreign):
        answer = service.http.request(
            method,
            f"{ROLE}/{role_id}",
            headers=master_headers(service),
            data=NEW if method == "PUT" else None,
        )
        assert_refused(answer, 404, "not_found")


def test_roles_are_listed_the_oldest_first_and_only_ones_own(service: Service) -> None:
    made = [create_role(service, name=name) for name in ("b", "a", "c")]
    home = service.organisation
    service.organisation = service.new_organisation()
    create_role(service, name="elsewhere")
    service.organisation = home

    listed = service.http.get(ROLE, headers=master_headers(service))

    assert listed.status_code == 200
    assert [role["role_id"] for role in listed.json()] == made


def test_without_a_role_the_list_is_empty(service: Service) -> None:
    assert service.http.get(ROLE, headers=master_headers(service)).json() == []
