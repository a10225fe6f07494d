"""PATCH /m/auth/rbac/{subuser}/userroles"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    RBAC,
    add_role,
    build_filter,
    insert_roles,
    list_mappings,
    map_roles,
    replace_mappings,
    role_refs,
)
from tests.identity.users.user_requests import USERS
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser

SIX_ROLES = [f"role-{number}" for number in range(6)]


@pytest.fixture
def subuser(service: Service) -> SubuserAccount:
    """A subuser with a role in each namespace and a filter."""
    insert_roles(service, SIX_ROLES, ["ReadUsers"])
    subuser = create_subuser(service)
    roles = role_refs("role-0") + role_refs("role-0", namespace="portal")
    assert map_roles(service, subuser.user_id, roles, [build_filter("cmp_a")]).status_code == 200
    return subuser


@pytest.mark.parametrize("product", PRODUCTS)
def test_all_roles_of_both_namespaces_are_replaced(
    service: Service, subuser: SubuserAccount, product: Product
) -> None:
    response = replace_mappings(
        service,
        subuser.user_id,
        role_refs("role-2", "role-1"),
        headers=service.root(product=product),
    )

    assert response.status_code == 200
    assert response.json() == {
        "success": ["role-2", "role-1"],
        "failed": [],
        "filters": [build_filter("cmp_a")],
    }
    assert list_mappings(service, subuser.username) == [
        ("core", "role-1"),
        ("core", "role-2"),
        ("core", "billingGroup:cmp_a"),
    ]


def test_absent_filters_are_kept_and_others_replace_them(
    service: Service, subuser: SubuserAccount
) -> None:
    portal_filter = build_filter("x", namespace="portal", type_="group")
    changes: list[tuple[Any, list[Any]]] = [
        (None, [build_filter("cmp_a")]),
        ([build_filter("cmp_b")], [build_filter("cmp_b")]),
        (
            [build_filter("cmp_b", "cmp_a"), build_filter("cmp_c")],
            [build_filter("cmp_a", "cmp_b", "cmp_c")],
        ),
        ([portal_filter], [portal_filter]),
        (None, [portal_filter]),
        ([], []),
    ]

    for filters, expected in changes:
        response = replace_mappings(service, subuser.user_id, role_refs("role-1"), filters)

        assert response.json()["filters"] == expected
        mappings = [
            (rule["namespace"], f"{rule['type']}:{resource}")
            for rule in expected
            for resource in rule["resource"]
        ]
        assert list_mappings(service, subuser.username) == [("core", "role-1"), *mappings]


def test_null_filters_are_kept(service: Service, subuser: SubuserAccount) -> None:
    response = service.http.patch(
        f"{RBAC}/{subuser.user_id}/userroles",
        json={"roles": [], "filters": None},
        headers=service.root(),
    )

    assert response.json() == {"success": [], "failed": [], "filters": [build_filter("cmp_a")]}


def test_an_empty_list_removes_all_permissions_on_the_next_request(
    service: Service, subuser: SubuserAccount
) -> None:
    assert service.http.get(USERS, headers=subuser.core).status_code == 200

    assert replace_mappings(service, subuser.user_id, []).status_code == 200

    assert service.http.get(USERS, headers=subuser.core).status_code == 403
    assert list_mappings(service, subuser.username) == [("core", "billingGroup:cmp_a")]


def test_five_roles_can_be_replaced_but_not_by_six(
    service: Service, subuser: SubuserAccount
) -> None:
    assert replace_mappings(service, subuser.user_id, role_refs(*SIX_ROLES[:5])).status_code == 200
    assert replace_mappings(service, subuser.user_id, role_refs(*SIX_ROLES[1:])).status_code == 200
    before = list_mappings(service, subuser.username)

    response = replace_mappings(service, subuser.user_id, role_refs(*SIX_ROLES), [])

    assert read_violations(response) == [("roles", "at most 5 roles in a namespace")]
    assert list_mappings(service, subuser.username) == before


def test_a_single_violation_prevents_the_whole_change(
    service: Service, subuser: SubuserAccount
) -> None:
    before = list_mappings(service, subuser.username)
    requests: list[tuple[list[dict[str, str]], list[Any], tuple[str, str]]] = [
        (role_refs("role-1", "unknown"), [], ("roles[1].role", "an existing role")),
        (
            role_refs("role-1"),
            [build_filter("x", type_="tags")],
            ("filters[0].type", "one of billingGroup"),
        ),
        (role_refs("role-1"), [build_filter()], ("filters[0].resource", "at least one")),
    ]

    for roles, filters, violation in requests:
        response = replace_mappings(service, subuser.user_id, roles, filters)
        assert read_violations(response) == [violation]
    assert list_mappings(service, subuser.username) == before


def test_subusers_are_found_by_their_id_only(service: Service, subuser: SubuserAccount) -> None:
    other = service.new_organisation()
    foreign = create_subuser(service, core=["ReadUsers"], organisation=other)
    before = list_mappings(service, subuser.username)

    for user_id in (
        subuser.username,
        service.organisation.root_user_id,
        "root",
        new_id("usr"),
        foreign.user_id,
        other.root_user_id,
    ):
        assert read_problem(replace_mappings(service, user_id, []), 404)["code"] == "not_found"
    assert list_mappings(service, subuser.username) == before
    assert len(list_mappings(service, foreign.username, service.root(other))) == 1


def test_callers_may_replace_their_own_roles_by_roles_with_fewer_permissions(
    service: Service,
) -> None:
    subuser = create_subuser(service, core=["ModifyRoles", "ReadUsers"])
    add_role(service, "smaller", ["ReadUsers"])
    add_role(service, "larger", ["ReadUsers", "ReadCost"])

    refused = replace_mappings(service, subuser.user_id, role_refs("larger"), headers=subuser.core)
    response = replace_mappings(
        service, subuser.user_id, role_refs("smaller"), headers=subuser.core
    )

    assert read_problem(refused, 403)["code"] == "maps_more"
    assert response.status_code == 200
    assert list_mappings(service, subuser.username) == [("core", "smaller")]
    assert service.http.get(USERS, headers=subuser.core).status_code == 200
    again = replace_mappings(service, subuser.user_id, role_refs("smaller"), headers=subuser.core)
    assert read_problem(again, 403)["code"] == "role_action_missing"


def test_the_roles_are_required(service: Service, subuser: SubuserAccount) -> None:
    response = service.http.patch(
        f"{RBAC}/{subuser.user_id}/userroles", json={"filters": []}, headers=service.root()
    )

    assert read_violations(response) == [("roles", "required")]
