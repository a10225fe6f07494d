"""PATCH /m/auth/rbac/roles/{namespace}/{rolename}"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    ROLES,
    add_role,
    list_mappings,
    list_permissions,
    list_roles,
    map_roles,
    patch_role,
    post_role,
    role_refs,
)
from tests.identity.rbac.test_role_bodies import NAME_VIOLATION
from tests.identity.users.user_requests import USERS
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import create_subuser, run_concurrently


@pytest.mark.parametrize("product", PRODUCTS)
def test_both_fields_are_changed_and_the_response_shows_the_role(
    service: Service, product: Product
) -> None:
    add_role(service)

    response = patch_role(
        service,
        headers=service.root(product=product),
        name="book-keeping",
        permissions=["ReadCost", "ReadAudit"],
    )

    assert response.status_code == 200
    assert response.json() == {
        "name": "book-keeping",
        "namespace": "core",
        "permissions": ["ReadCost", "ReadAudit"],
    }
    assert list_roles(service) == [response.json()]


def test_absent_and_null_fields_are_not_changed(service: Service) -> None:
    role = add_role(service)
    changes: list[tuple[dict[str, Any], str, list[str]]] = [
        ({}, "accounting", ["ReadInvoice"]),
        ({"name": None, "permissions": None}, "accounting", ["ReadInvoice"]),
        ({"name": "book-keeping"}, "book-keeping", ["ReadInvoice"]),
        ({"name": "book-keeping"}, "book-keeping", ["ReadInvoice"]),
        ({"permissions": []}, "book-keeping", []),
        ({"permissions": ["ReadRi", "ReadCost", "ReadRi"]}, "book-keeping", ["ReadRi", "ReadCost"]),
        ({"permissions": ["ReadRi", "Admin", "ReadCost"]}, "book-keeping", ["Admin"]),
        ({"permissions": ["no such one", "Admin"]}, "book-keeping", ["Admin"]),
    ]

    for body, name, permissions in changes:
        response = patch_role(service, role, **body)

        assert response.status_code == 200
        expected = {"name": name, "namespace": "core", "permissions": permissions}
        assert list_roles(service) == [expected]
        role = name


def test_mappings_of_the_same_namespace_follow_a_new_name(service: Service) -> None:
    add_role(service)
    add_role(service, namespace="portal")
    subusers = [create_subuser(service) for _ in range(3)]
    for subuser in subusers:
        both = role_refs("accounting") + role_refs("accounting", namespace="portal")
        map_roles(service, subuser.user_id, both)

    patch_role(service, name="book-keeping")

    for subuser in subusers:
        assert list_mappings(service, subuser.username) == [
            ("core", "book-keeping"),
            ("portal", "accounting"),
        ]
        assert list_permissions(service, subuser.username)["core"] == ["ReadInvoice"]


def test_the_old_name_is_unknown_and_can_be_used_again(service: Service) -> None:
    add_role(service)
    patch_role(service, name="book-keeping")
    subuser = create_subuser(service)

    assert read_violations(map_roles(service, subuser.user_id, role_refs("accounting")))
    assert read_problem(patch_role(service, permissions=[]), 404)["code"] == "not_found"
    assert post_role(service).status_code == 200


def test_a_change_applies_to_the_next_request_of_users_with_the_role(service: Service) -> None:
    add_role(service, permissions=["ReadUsers"])
    subuser = create_subuser(service)
    map_roles(service, subuser.user_id, role_refs("accounting"))
    assert service.http.get(USERS, headers=subuser.core).status_code == 200

    patch_role(service, permissions=["ReadRoles"])

    assert service.http.get(USERS, headers=subuser.core).status_code == 403
    assert service.http.get(ROLES, headers=subuser.core).status_code == 200

    patch_role(service, permissions=["Admin"], name="everything")

    assert service.http.get(USERS, headers=subuser.core).status_code == 200
    assert service.http.get(USERS, headers=subuser.portal).status_code == 403

    patch_role(service, "everything", permissions=[])

    assert service.http.get(USERS, headers=subuser.core).status_code == 403


def test_a_duplicate_name_is_refused_and_nothing_changes(service: Service) -> None:
    add_role(service)
    add_role(service, "used-in-core", ["ReadCost"])
    add_role(service, "used-in-portal", [], "portal")
    before = list_roles(service)

    response = patch_role(service, name="used-in-core", permissions=["ReadAudit"])

    assert read_problem(response, 409)["code"] == "role_name_taken"
    assert list_roles(service) == before
    assert patch_role(service, name="used-in-portal").status_code == 200


def test_a_new_name_follows_the_rules_of_names(service: Service) -> None:
    add_role(service)

    assert read_violations(patch_role(service, name="-abcdef")) == NAME_VIOLATION
    for name in ("abcdef", "a" * 32):
        assert patch_role(service, name=name).json()["name"] == name
        assert patch_role(service, name, name="accounting").status_code == 200


def test_unknown_permissions_are_reported_by_their_index(service: Service) -> None:
    add_role(service)
    add_role(service, namespace="portal")

    in_core = patch_role(service, permissions=["ReadRi", "ReadTags", "admin"])
    in_portal = patch_role(service, namespace="portal", permissions=["ReadAudit", "ReadTags"])

    assert read_violations(in_core) == [
        ("permissions[1]", "offered in namespace core"),
        ("permissions[2]", "offered in namespace core"),
    ]
    assert read_violations(in_portal) == [("permissions[0]", "offered in namespace portal")]
    assert {tuple(role["permissions"]) for role in list_roles(service)} == {("ReadInvoice",)}


def test_the_namespace_of_a_role_cannot_be_changed(service: Service) -> None:
    add_role(service)

    body = {"namespace": "portal", "root_user": "usr_x"}
    response = service.http.patch(f"{ROLES}/core/accounting", json=body, headers=service.root())

    assert response.json()["namespace"] == "core"
    assert [role["namespace"] for role in list_roles(service)] == ["core"]


def test_unknown_and_foreign_roles_are_not_found(service: Service) -> None:
    add_role(service)
    other = service.new_organisation()
    post_role(service, service.root(other), name="of-others")

    for namespace, role in (
        ("core", "nothing"),
        ("portal", "accounting"),
        ("legacy", "accounting"),
        ("Core", "accounting"),
        ("core", "Accounting"),
        ("core", "of-others"),
        ("core", "%20"),
    ):
        response = patch_role(service, role, namespace=namespace, permissions=["Admin"])
        assert read_problem(response, 404)["code"] == "not_found", (namespace, role)
    assert list_roles(service, service.root(other))[0]["permissions"] != ["Admin"]


def test_only_one_of_many_concurrent_changes_gets_the_name(service: Service) -> None:
    names = [f"role-{number}" for number in range(6)]
    for name in names:
        add_role(service, name)

    responses = run_concurrently(
        [partial(patch_role, service, name, name="new-name") for name in names]
    )

    outcomes = Counter((each.status_code, each.json().get("code")) for each in responses)
    assert outcomes == {(200, None): 1, (409, "role_name_taken"): 5}
    resulting = [role["name"] for role in list_roles(service)]
    assert resulting.count("new-name") == 1
    assert len(resulting) == 6


def test_two_roles_that_swap_names_concurrently_do_not_deadlock(service: Service) -> None:
    pairs = [("first-role", "second-role"), ("second-role", "first-role")]
    for name, _ in pairs:
        add_role(service, name)

    responses = run_concurrently(
        [partial(patch_role, service, old, name=new) for old, new in pairs * 3]
    )

    assert {response.status_code for response in responses} == {409}
