"""POST /m/auth/rbac/roles"""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    ROLE,
    add_role,
    list_mappings,
    list_roles,
    map_roles,
    post_role,
    role_refs,
)
from tests.identity.rbac.test_role_bodies import NAME_VIOLATION, VALID_NAMES
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import create_subuser, run_concurrently


def test_the_response_shows_the_role(service: Service) -> None:
    response = post_role(service)

    assert response.status_code == 200
    assert response.json() == {
        "name": "accounting",
        "namespace": "core",
        "permissions": ["ReadInvoice", "ReadBillingGroup"],
    }
    assert list_roles(service) == [response.json()]


def test_names_are_stored_unchanged(service: Service) -> None:
    for name in VALID_NAMES:
        assert post_role(service, name=name).json()["name"] == name

    assert {role["name"] for role in list_roles(service)} == set(VALID_NAMES)


def test_permissions_keep_the_order_in_which_they_were_sent(service: Service) -> None:
    variants = {
        "role-1": [],
        "role-2": ["ReadInvoice"],
        "role-3": ["ModifyProject", "ReadAudit", "ModifyAccount", "ReadAccount", "ReadCost"],
        "role-4": ["ReadAccount", "ModifyAccount", "ReadAudit", "ModifyProject", "ReadCost"],
    }

    for name, permissions in variants.items():
        response = post_role(service, name=name, permissions=permissions)
        assert response.json()["permissions"] == permissions

    assert {role["name"]: role["permissions"] for role in list_roles(service)} == variants


def test_duplicate_permissions_are_removed(service: Service) -> None:
    response = post_role(service, permissions=["ReadRi", "ReadCost", "ReadRi", "ReadRi"])

    assert response.json()["permissions"] == ["ReadRi", "ReadCost"]


@pytest.mark.parametrize("namespace", ["core", "portal"])
def test_admin_replaces_all_other_permissions(service: Service, namespace: str) -> None:
    for number, permissions in enumerate(
        [
            ["Admin"],
            ["Admin", "ReadInvoice"],
            ["ReadInvoice", "Admin"],
            ["ReadInvoice", "Admin", "ModifyInvoice", "Admin"],
            ["Admin", "no such permission"],
        ]
    ):
        response = post_role(
            service, name=f"admin-{number}", namespace=namespace, permissions=permissions
        )

        assert response.status_code == 200
        assert response.json()["permissions"] == ["Admin"]
    assert {tuple(role["permissions"]) for role in list_roles(service)} == {("Admin",)}


def test_unknown_permissions_are_reported_by_their_index(service: Service) -> None:
    permissions = ["ReadInvoice", "readinvoice", "ReadUsers", "ReadInvoice ", "admin", ""]

    response = post_role(service, permissions=permissions)

    rule = "offered in namespace core"
    assert read_violations(response) == [(f"permissions[{index}]", rule) for index in (1, 3, 4, 5)]
    assert list_roles(service) == []


def test_permissions_of_the_other_namespace_are_refused(service: Service) -> None:
    for namespace, others in {
        "core": ["ReadTags", "ReadGroups", "ModifyBudget", "DownloadReports"],
        "portal": ["ReadAudit", "ModifyInvoice", "ReadCost", "ReadProject", "ModifyBillingGroup"],
    }.items():
        response = post_role(service, namespace=namespace, permissions=["ReadAccount", *others])

        assert read_violations(response) == [
            (f"permissions[{index}]", f"offered in namespace {namespace}")
            for index, _ in enumerate(others, start=1)
        ]


def test_all_violations_are_reported_at_once(service: Service) -> None:
    response = post_role(service, name="-", namespace="other", permissions=[1])

    assert sorted(read_violations(response)) == sorted(
        [*NAME_VIOLATION, ("namespace", "one of core, portal"), ("permissions[0]", "a text")]
    )
    assert list_roles(service) == []


def test_a_name_is_unique_within_its_namespace(service: Service) -> None:
    add_role(service)

    response = post_role(service, permissions=[])

    assert read_problem(response, 409)["code"] == "role_name_taken"
    assert post_role(service, namespace="portal", permissions=["ReadTags"]).status_code == 200
    assert post_role(service, name="Accounting").status_code == 200
    assert [role["permissions"] for role in list_roles(service)] == [
        ["ReadInvoice", "ReadBillingGroup"],
        ["ReadInvoice"],
        ["ReadTags"],
    ]


def test_another_organisation_may_use_the_same_name(service: Service) -> None:
    add_role(service)
    other = service.new_organisation()

    assert post_role(service, service.root(other)).status_code == 200
    assert len(list_roles(service)) == 1


def test_only_one_of_many_concurrent_requests_gets_the_name(service: Service) -> None:
    responses = run_concurrently([partial(post_role, service, permissions=[]) for _ in range(6)])

    outcomes = Counter((each.status_code, each.json().get("code")) for each in responses)
    assert outcomes == {(200, None): 1, (409, "role_name_taken"): 5}
    assert len(list_roles(service)) == 1


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_role_created_by_a_subuser_belongs_to_the_root_user(
    service: Service, product: Product
) -> None:
    creator = create_subuser(service, core=["ModifyRoles"], portal=["ModifyRoles"])
    reader = create_subuser(service, core=["ReadRoles"])
    mapper = create_subuser(service, core=["Admin"])
    role = post_role(service, creator.headers(product), permissions=["ModifyRoles"]).json()

    assert role in list_roles(service)
    assert role in list_roles(service, reader.core)
    assert map_roles(
        service, reader.user_id, role_refs("accounting"), headers=mapper.core
    ).is_success
    assert ("core", "accounting") in list_mappings(service, reader.username)

    service.http.delete(f"/m/u/users/{creator.user_id}", headers=service.root())

    assert role in list_roles(service, reader.core)


def test_unknown_fields_are_ignored(service: Service) -> None:
    response = post_role(service, root_user="usr_x", organisation_id="org_x", users=["usr_x"])

    assert response.json() == ROLE
