"""POST /m/auth/rbac/userroles"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.identity.login.token_requests import PRODUCTS
from tests.identity.rbac.role_requests import (
    add_role,
    build_filter,
    delete_role,
    insert_roles,
    list_mappings,
    map_roles,
    patch_role,
    post_role,
    replace_mappings,
    role_refs,
)
from tests.identity.rbac.stored_groups import insert_groups
from tests.identity.users.user_requests import USERS
from tests.problem_responses import read_violations
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser, run_concurrently

SIX_ROLES = [f"role-{number}" for number in range(6)]
TOO_MANY_ROLES = [("roles", "at most 5 roles in a namespace")]


@pytest.fixture
def subuser(service: Service) -> SubuserAccount:
    return create_subuser(service)


@pytest.fixture
def six_roles(service: Service) -> list[str]:
    """Six roles in each namespace."""
    insert_roles(service, SIX_ROLES, ["ReadUsers"])
    return SIX_ROLES


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_response_shows_roles_and_filters(
    service: Service, subuser: SubuserAccount, six_roles: list[str], product: Product
) -> None:
    roles = role_refs("role-1", "role-0") + role_refs("role-1", namespace="portal")

    response = map_roles(
        service,
        subuser.user_id,
        roles,
        [build_filter("cmp_b", "cmp_a"), build_filter("k=x", namespace="portal", type_="tags")],
        headers=service.root(product=product),
    )

    assert response.status_code == 200
    assert response.json() == {
        "success": ["role-1", "role-0", "role-1"],
        "failed": [],
        "filters": [
            {"namespace": "core", "type": "billingGroup", "resource": ["cmp_a", "cmp_b"]},
            {"namespace": "portal", "type": "tags", "resource": ["k=x"]},
        ],
    }


def test_existing_roles_and_filters_are_kept(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    map_roles(service, subuser.user_id, role_refs("role-0"), [build_filter("cmp_a")])

    response = map_roles(
        service, subuser.user_id, role_refs("role-1", "role-0"), [build_filter("cmp_b")]
    )

    assert response.json()["success"] == ["role-1", "role-0"]
    assert response.json()["filters"] == [build_filter("cmp_a", "cmp_b")]
    assert list_mappings(service, subuser.username) == [
        ("core", "role-0"),
        ("core", "role-1"),
        ("core", "billingGroup:cmp_a"),
        ("core", "billingGroup:cmp_b"),
    ]


def test_a_mapping_applies_to_the_next_request(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    assert service.http.get(USERS, headers=subuser.core).status_code == 403

    map_roles(service, subuser.user_id, role_refs("role-0"))

    assert service.http.get(USERS, headers=subuser.core).status_code == 200
    assert service.http.get(USERS, headers=subuser.portal).status_code == 403


# ── number of roles ──────────────────────────────────────────────────────────────────────────────


def test_a_sixth_role_in_a_namespace_is_refused_and_nothing_changes(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    for namespace in ("core", "portal"):
        response = map_roles(
            service, subuser.user_id, role_refs(*six_roles[:5], namespace=namespace)
        )
        assert response.status_code == 200
    before = list_mappings(service, subuser.username)
    assert len(before) == 10

    for roles in (
        role_refs(six_roles[5]),
        role_refs(six_roles[5], namespace="portal"),
        role_refs(six_roles[0], six_roles[5]),
        role_refs(six_roles[0], namespace="portal") + role_refs(six_roles[5]),
    ):
        response = map_roles(service, subuser.user_id, roles, [build_filter("cmp_a")])
        assert read_violations(response) == TOO_MANY_ROLES

    assert list_mappings(service, subuser.username) == before
    assert map_roles(service, subuser.user_id, role_refs(*six_roles[:5])).status_code == 200


def test_six_roles_in_one_request_are_refused_and_none_is_mapped(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    in_core = role_refs(*six_roles)
    in_both = in_core + role_refs(*six_roles, namespace="portal")

    assert read_violations(map_roles(service, subuser.user_id, in_core)) == TOO_MANY_ROLES
    assert read_violations(map_roles(service, subuser.user_id, in_both)) == TOO_MANY_ROLES * 2
    assert list_mappings(service, subuser.username) == []


def test_duplicate_roles_count_once(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    response = map_roles(service, subuser.user_id, role_refs(*six_roles[:5], *six_roles[:5]))

    assert response.json()["success"] == six_roles[:5]
    assert len(list_mappings(service, subuser.username)) == 5


def test_concurrent_requests_never_exceed_five_roles(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    calls = [partial(map_roles, service, subuser.user_id, role_refs(role)) for role in six_roles]
    calls += [
        partial(replace_mappings, service, subuser.user_id, role_refs(role))
        for role in six_roles[:2]
    ]

    for _ in range(3):
        responses = run_concurrently(calls)

        assert {response.status_code for response in responses} <= {200, 400}
        assert 1 <= len(list_mappings(service, subuser.username)) <= 5


def test_five_of_six_concurrent_requests_succeed(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    responses = run_concurrently(
        [partial(map_roles, service, subuser.user_id, role_refs(role)) for role in six_roles]
    )

    assert sorted(response.status_code for response in responses) == [200] * 5 + [400]
    assert len(list_mappings(service, subuser.username)) == 5


# ── deadlocks ────────────────────────────────────────────────────────────────────────────────────


def test_mapping_the_same_roles_in_different_order_does_not_deadlock(
    service: Service, six_roles: list[str]
) -> None:
    subusers = [create_subuser(service) for _ in range(8)]
    orders = [six_roles[:5], six_roles[4::-1]]

    responses = run_concurrently(
        [
            partial(map_roles, service, each.user_id, role_refs(*orders[index % 2]))
            for index, each in enumerate(subusers)
        ]
    )

    assert [response.status_code for response in responses] == [200] * 8


def test_concurrent_changes_of_user_role_and_mapping_do_not_deadlock(
    service: Service, six_roles: list[str]
) -> None:
    for number in range(3):
        subuser, root = create_subuser(service), service.root()
        role = add_role(service, f"circle-{number}")
        map_roles(service, subuser.user_id, role_refs(role))

        responses = run_concurrently(
            [
                partial(replace_mappings, service, subuser.user_id, role_refs(role)),
                partial(map_roles, service, subuser.user_id, role_refs(role, six_roles[0])),
                partial(patch_role, service, role, name=f"circle-{number}-new"),
                partial(delete_role, service, six_roles[number]),
                partial(service.http.delete, f"{USERS}/{subuser.user_id}", headers=root),
            ]
        )

        assert max(response.status_code for response in responses) < 500


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────


def test_a_single_violation_prevents_the_whole_change(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    add_role(service, "core-role")
    unknown_role, role = ("roles[0].role", "an existing role"), role_refs("role-0")
    requests: list[tuple[list[dict[str, str]], Any, list[tuple[str, str]]]] = [
        (role_refs("role-0", "unknown"), None, [("roles[1].role", "an existing role")]),
        (role_refs("Role-0"), None, [unknown_role]),
        (role_refs("", "role-0"), None, [unknown_role]),
        (role_refs("core-role", namespace="portal"), None, [unknown_role]),
        (
            role,
            [build_filter("cmp_a"), build_filter("x", type_="BillingGroup")],
            [("filters[1].type", "one of billingGroup")],
        ),
        (
            role,
            [build_filter("x", namespace="portal", type_="billingGroup")],
            [("filters[0].type", "one of linkAcct, group, tags")],
        ),
        (role, [build_filter()], [("filters[0].resource", "at least one")]),
        (role, [build_filter("")], [("filters[0].resource[0]", "length 1 to 512")]),
        (
            role_refs("unknown", *SIX_ROLES),
            [build_filter(type_="tags")],
            [
                unknown_role,
                ("filters[0].type", "one of billingGroup"),
                ("filters[0].resource", "at least one"),
                *TOO_MANY_ROLES,
            ],
        ),
    ]

    for roles, filters, violations in requests:
        response = map_roles(service, subuser.user_id, roles, filters)
        assert read_violations(response) == violations
    assert list_mappings(service, subuser.username) == []


def test_only_subusers_of_the_caller_are_found(
    service: Service, subuser: SubuserAccount, six_roles: list[str]
) -> None:
    other = service.new_organisation()
    foreign = create_subuser(service, organisation=other)

    for user_id in (
        new_id("usr"),
        "",
        service.organisation.root_user_id,
        foreign.user_id,
        other.root_user_id,
    ):
        response = map_roles(service, user_id, role_refs("role-0"))
        assert read_violations(response) == [("user_id", "an existing subuser")]
    assert list_mappings(service, foreign.username, service.root(other)) == []


def test_a_role_of_another_organisation_is_unknown(
    service: Service, subuser: SubuserAccount
) -> None:
    post_role(service, service.root(service.new_organisation()), name="foreign")

    response = map_roles(service, subuser.user_id, role_refs("foreign"))

    assert read_violations(response) == [("roles[0].role", "an existing role")]


# ── filters ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("namespace", "types"), [("portal", ["linkAcct", "group", "tags"]), ("core", ["billingGroup"])]
)
def test_each_namespace_has_its_own_filter_types(
    service: Service, subuser: SubuserAccount, namespace: str, types: list[str]
) -> None:
    def list_resources(type_: str) -> list[str]:
        return ["a=1", "b=2"] if type_ == "tags" else ["cmp_a", "cmp_b"]

    valid = [
        build_filter(*list_resources(type_), namespace=namespace, type_=type_) for type_ in types
    ]

    response = map_roles(service, subuser.user_id, [], valid)

    assert response.status_code == 200
    assert list_mappings(service, subuser.username) == [
        (namespace, f"{type_}:{resource}")
        for type_ in sorted(types)
        for resource in list_resources(type_)
    ]
    for type_ in ("linkAcct", "group", "tags", "billingGroup", "linkacct", "", "account"):
        rule = build_filter(*list_resources(type_), namespace=namespace, type_=type_)
        response = map_roles(service, subuser.user_id, [], [rule])
        assert response.is_success == (type_ in types), type_


def test_the_number_of_filters_is_not_limited(service: Service, subuser: SubuserAccount) -> None:
    resources = [f"cmp_{number:04}" for number in range(800)]
    insert_groups(service, resources)
    filters = [build_filter(*resources[:400]), *map(build_filter, resources[400:])]

    response = map_roles(service, subuser.user_id, [], filters)

    assert response.json()["filters"] == [build_filter(*resources)]
    assert len(list_mappings(service, subuser.username)) == 800


def test_resources_are_stored_unchanged(service: Service, subuser: SubuserAccount) -> None:
    texts = ["x" * 509, "😀" * 509, "部門:営業", "a:b", "%", " ", "'", "="]
    resources = [f"k:={text}" for text in texts]
    rule = build_filter(*resources, namespace="portal", type_="tags")

    response = map_roles(service, subuser.user_id, [], [rule])

    (stored,) = response.json()["filters"]
    assert sorted(stored["resource"]) == sorted(resources)
    mappings = list_mappings(service, subuser.username)
    assert sorted(mappings) == sorted(("portal", f"tags:{resource}") for resource in resources)


def test_filters_restrict_the_next_request(service: Service) -> None:
    subuser = create_subuser(service, core=["ReadBillingGroup"])
    groups = [
        create_billing_group(service, service.root(), billinggroup_id=id_)
        for id_ in ("first", "second")
    ]

    def list_visible_groups() -> list[str]:
        records = service.http.get("/m/core/billinggroup", headers=subuser.core).json()
        return [record["company_id"] for record in records if record["company_id"] in groups]

    assert list_visible_groups() == groups
    map_roles(service, subuser.user_id, [], [build_filter(groups[1])])
    assert list_visible_groups() == [groups[1]]
    replace_mappings(service, subuser.user_id, role_refs(f"role-{subuser.user_id[-12:]}"), [])
    assert list_visible_groups() == groups
