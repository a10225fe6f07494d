"""POST, PUT and DELETE /v3/user/role, GET /v3/user/role and /v3/user/{username}/role"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from nimbill.foundation.ids import new_id
from nimbill.legacy.roles.operations import ROLES_PER_USER_MAX
from tests.customers.billing_groups.billing_groups import create_billing_group as billing_group
from tests.customers.resellers.reseller_accounts import EMAIL, post_reseller
from tests.identity.login.token_requests import create_user
from tests.legacy.roles.role_requests import (
    EVERYTHING,
    USER_ROLE,
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
from tests.problem_responses import HttpResponse
from tests.quick_hashes import quick_hashes
from tests.running_service import Service


def reattach_role(service: Service, username: str, role_id: str) -> HttpResponse:
    return service.http.put(
        f"{USER_ROLE}/{role_id}", data={"username": username}, headers=master_headers(service)
    )


def detach_role(service: Service, username: str, role_id: str) -> HttpResponse:
    return service.http.delete(
        f"{USER_ROLE}/{role_id}", params={"username": username}, headers=master_headers(service)
    )


CHANGES = {"attach": attach_role, "reattach": reattach_role, "detach": detach_role}
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))


# ── attachment ───────────────────────────────────────────────────────────────────────────────────


def test_a_role_is_attached_to_a_user(service: Service) -> None:
    person, role_id = create_subuser(service), create_role(service)

    response = attach_role(service, person.username, role_id)

    assert response.status_code == 200
    assert list(response.json()) == ["status", "user_role_id"]
    assert response.json()["status"] == "success"
    (own,) = list_own_roles(service, person)
    assert own["user_role_id"] == response.json()["user_role_id"]


def test_users_read_their_own_roles_with_all_specified_fields(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement())

    (own,) = list_own_roles(service, person)

    assert list(own) == [
        "user_role_id",
        "role_id",
        "user",
        "scope",
        "create_time",
        "update_time",
    ]
    assert own["role_id"] == role_id
    assert own["user"] == f"{person.user_id}:{person.username}"
    assert own["scope"] == build_document(build_statement())
    assert own["create_time"] == own["update_time"]


def test_the_master_account_has_no_roles(service: Service) -> None:
    assert service.http.get(USER_ROLE, headers=master_headers(service)).json() == []
    assert list_roles_of(service, "root") == []
    for change in (attach_role, reattach_role):
        assert_refused(change(service, "root", create_role(service)), 409, "master_account")


def test_the_master_account_reads_the_roles_of_a_user(service: Service) -> None:
    person, name = create_subuser(service), "operators"
    first, second = create_role(service, name=name), create_role(service, name=name)
    for role_id in (second, first):
        attach_role(service, person.username, role_id)

    found = list_roles_of(service, person.username)

    assert [role["role_id"] for role in found] == [second, first]
    assert list(found[0]) == [
        "role_id",
        "user_id",
        "name",
        "scope",
        "create_time",
        "update_time",
    ]
    assert found[0]["user_id"] == service.organisation.root_user_id


def test_usernames_are_case_insensitive(service: Service) -> None:
    person, role_id = create_user(service, "Jane.Doe"), create_role(service)

    assert attach_role(service, "JANE.doe", role_id).status_code == 200
    assert [role["role_id"] for role in list_roles_of(service, person.username)] == [role_id]


def test_a_repeated_attachment_changes_nothing(service: Service) -> None:
    person, role_id = create_subuser(service), create_role(service)

    first, second = (attach_role(service, person.username, role_id) for _ in range(2))

    assert first.json() == second.json()
    assert len(list_own_roles(service, person)) == 1


def test_a_user_has_at_most_five_roles(service: Service) -> None:
    person = create_subuser(service)
    role_ids = [create_role(service) for _ in range(ROLES_PER_USER_MAX + 1)]
    for role_id in role_ids[:-1]:
        assert attach_role(service, person.username, role_id).status_code == 200

    assert_refused(attach_role(service, person.username, role_ids[-1]), 409, "too_many_roles")

    assert [role["role_id"] for role in list_own_roles(service, person)] == role_ids[:-1]
    assert attach_role(service, person.username, role_ids[0]).status_code == 200


def test_concurrent_attachments_do_not_exceed_the_limit(service: Service) -> None:
    person = create_subuser(service)
    role_ids = [create_role(service) for _ in range(2 * ROLES_PER_USER_MAX)]

    with ThreadPoolExecutor(len(role_ids)) as threads:
        responses = list(
            threads.map(lambda role_id: attach_role(service, person.username, role_id), role_ids)
        )

    assert sorted(response.status_code for response in responses) == [200] * 5 + [409] * 5
    assert len(list_own_roles(service, person)) == ROLES_PER_USER_MAX


@pytest.mark.parametrize("missing", ["username", "role_id"])
def test_username_and_role_are_required(service: Service, missing: str) -> None:
    fields = {"username": create_subuser(service).username, "role_id": create_role(service)}
    del fields[missing]

    response = service.http.post(USER_ROLE, data=fields, headers=master_headers(service))

    assert assert_refused(response, 400, "rule_broken") == [{"field": missing, "rule": "required"}]


# ── replacement ──────────────────────────────────────────────────────────────────────────────────


def test_put_replaces_all_roles_of_the_user(service: Service) -> None:
    person, new_role = create_subuser(service), create_role(service)
    grant_scope(service, person, build_statement())
    grant_scope(service, person, build_statement("Deny"))

    response = reattach_role(service, person.username, new_role)

    assert response.status_code == 200
    assert response.json() == {"status": "success", "role_id": new_role}
    assert [role["role_id"] for role in list_own_roles(service, person)] == [new_role]


def test_put_keeps_an_existing_assignment(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement())
    grant_scope(service, person, build_statement("Deny"))
    before = list_own_roles(service, person)[0]

    reattach_role(service, person.username, role_id)

    (after,) = list_own_roles(service, person)
    assert after["user_role_id"] == before["user_role_id"]
    assert after["create_time"] == before["create_time"]
    assert after["update_time"] > before["update_time"]


def test_put_requires_a_username(service: Service) -> None:
    response = service.http.put(
        f"{USER_ROLE}/{create_role(service)}", data={}, headers=master_headers(service)
    )

    assert response.status_code in (400, 415)


def test_a_refused_put_changes_nothing(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement())

    assert_refused(reattach_role(service, person.username, new_id("rol")), 404, "not_found")

    assert [role["role_id"] for role in list_own_roles(service, person)] == [role_id]


# ── detachment ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["params", "data", "json"])
def test_the_username_may_be_in_the_query_a_form_or_json(service: Service, place: str) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement())
    options: dict[str, Any] = {place: {"username": person.username}}

    response = service.http.request(
        "DELETE", f"{USER_ROLE}/{role_id}", headers=master_headers(service), **options
    )

    assert response.status_code == 200, response.text
    assert response.json() == {"status": "success", "role_id": role_id}
    assert list_own_roles(service, person) == []


def test_a_missing_username_is_refused(service: Service) -> None:
    path = f"{USER_ROLE}/{create_role(service)}"
    required = [{"field": "username", "rule": "required"}]

    for query in ("", "?username="):
        response = service.http.delete(path + query, headers=master_headers(service))
        assert assert_refused(response, 400, "rule_broken") == required


def test_two_different_usernames_are_refused(service: Service) -> None:
    person, other = create_subuser(service), create_subuser(service)
    role_id = grant_scope(service, person, build_statement())

    def request(in_query: str, in_body: str) -> HttpResponse:
        return service.http.request(
            "DELETE",
            f"{USER_ROLE}/{role_id}",
            params={"username": in_query},
            data={"username": in_body},
            headers=master_headers(service),
        )

    (violation,) = assert_refused(request(person.username, other.username), 400, "rule_broken")
    assert violation["field"] == "username"
    assert request(person.username, person.username).status_code == 200


def test_a_role_the_user_does_not_have_is_not_found(service: Service) -> None:
    person, role_id = create_subuser(service), create_role(service)

    assert_refused(detach_role(service, person.username, role_id), 404, "not_found")


@pytest.mark.parametrize("method", ["DELETE", "PUT"], ids=["detach", "reattach"])
def test_no_user_takes_roles_away_whatever_rights_both_have(service: Service, method: str) -> None:
    """Only the master account may, and nobody has rights that it does not have."""
    weaker, equal, person = (create_subuser(service) for _ in range(3))
    small = grant_scope(service, weaker, build_statement(action=["userrole:*"]))
    for each in (equal, person):
        large = grant_scope(service, each, build_statement())
    path = f"{USER_ROLE}/{large if method == 'DELETE' else small}"
    before = list_own_roles(service, person)

    for caller in (weaker, equal, person):
        sent = {"username": person.username}
        response = service.http.request(method, path, data=sent, headers=caller.headers)
        assert_refused(response, 403, "master_account_alone")

    assert list_own_roles(service, person) == before


# ── users ────────────────────────────────────────────────────────────────────────────────────────


def assert_user_unknown(change: Any, response: HttpResponse) -> None:
    """A user named in a body is a broken rule, a user named for detachment selects the record."""
    if change is detach_role:
        assert_refused(response, 404, "not_found")
    else:
        violations = [{"field": "username", "rule": "an existing user"}]
        assert assert_refused(response, 400, "rule_broken") == violations


def test_an_unknown_user_and_an_unknown_role_are_reported_at_once(service: Service) -> None:
    person = create_subuser(service)
    unknown_role = {"field": "role_id", "rule": "an existing role"}
    unknown_user = {"field": "username", "rule": "an existing user"}

    of_role = attach_role(service, person.username, new_id("rol"))
    of_both = attach_role(service, "nobody.here", new_id("rol"))

    assert assert_refused(of_role, 400, "rule_broken") == [unknown_role]
    assert assert_refused(of_both, 400, "rule_broken") == [unknown_user, unknown_role]
    assert list_own_roles(service, person) == []


@each_change
def test_an_unknown_user_is_not_found(service: Service, change: Any) -> None:
    role_id = create_role(service)

    assert_user_unknown(change, change(service, "nobody.here", role_id))
    assert_refused(
        service.http.get("/v3/user/nobody.here/role", headers=master_headers(service)),
        404,
        "not_found",
    )


@each_change
def test_a_user_is_identified_by_username_not_by_id(service: Service, change: Any) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement())

    assert_user_unknown(change, change(service, person.user_id, role_id))


@each_change
def test_a_user_of_another_organisation_is_not_found(service: Service, change: Any) -> None:
    home, role_id = service.organisation, create_role(service)
    service.organisation = service.new_organisation()
    elsewhere = create_subuser(service)
    grant_scope(service, elsewhere, build_statement())
    service.organisation = home

    assert_user_unknown(change, change(service, elsewhere.username, role_id))


@each_change
def test_a_reseller_is_not_found(service: Service, change: Any) -> None:
    company_id = billing_group(service, service.root(), billinggroup_id="BG-1")
    with quick_hashes():
        assert post_reseller(service, company_id).status_code == 200

    assert_user_unknown(change, change(service, EMAIL, create_role(service)))
    path = f"/v3/user/{EMAIL}/role"
    assert_refused(service.http.get(path, headers=master_headers(service)), 404, "not_found")


def test_the_roles_of_a_deleted_user_are_detached(service: Service) -> None:
    person = create_user(service)
    role_id = create_role(service, EVERYTHING)
    attach_role(service, person.username, role_id)

    deleted = service.http.delete(f"/m/u/users/{person.user_id}", headers=service.root())

    assert deleted.status_code == 200
    assert_refused(detach_role(service, person.username, role_id), 404, "not_found")
