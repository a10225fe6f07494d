"""PATCH /m/auth/rbac/{subuser}/userroles"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of, violations_of
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import (
    RBAC,
    filtering,
    have_roles,
    map_roles,
    mappings_of,
    named,
    new_role,
    replace_mappings,
)
from tests.identity.users.subusers import USERS
from tests.people import Person, new_person
from tests.running_service import Service

SIX = [f"role-{number}" for number in range(6)]


@pytest.fixture
def person(service: Service) -> Person:
    """With a role in each namespace and a filter."""
    have_roles(service, SIX, ["ReadUsers"])
    one = new_person(service)
    roles = named("role-0") + named("role-0", namespace="portal")
    assert map_roles(service, one.user_id, roles, [filtering("cmp_a")]).status_code == 200
    return one


@pytest.mark.parametrize("product", BOTH)
def test_all_roles_are_replaced_by_those_of_the_request(
    service: Service, person: Person, product: Product
) -> None:
    """Those of the other namespace too."""
    answer = replace_mappings(
        service, person.user_id, named("role-2", "role-1"), headers=service.root(product=product)
    )

    assert answer.status_code == 200
    assert answer.json() == {
        "success": ["role-2", "role-1"],
        "failed": [],
        "filters": [filtering("cmp_a")],
    }
    assert mappings_of(service, person.username) == [
        ("core", "role-1"),
        ("core", "role-2"),
        ("core", "billingGroup:cmp_a"),
    ]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        (None, [filtering("cmp_a")]),
        ([], []),
        ([filtering("cmp_b")], [filtering("cmp_b")]),
        ([filtering("cmp_b", "cmp_a"), filtering("cmp_c")], [filtering("cmp_a", "cmp_b", "cmp_c")]),
        (
            [filtering("x", namespace="portal", type_="group")],
            [filtering("x", namespace="portal", type_="group")],
        ),
    ],
)
def test_filters_absent_are_kept_and_others_take_their_place(
    service: Service, person: Person, filters: Any, left: list[Any]
) -> None:
    answer = replace_mappings(service, person.user_id, named("role-1"), filters)

    assert answer.json()["filters"] == left
    told = [
        (rule["namespace"], f"{rule['type']}:{resource}")
        for rule in left
        for resource in rule["resource"]
    ]
    assert mappings_of(service, person.username) == [("core", "role-1"), *told]


def test_null_filters_are_absent(service: Service, person: Person) -> None:
    answer = service.http.patch(
        f"{RBAC}/{person.user_id}/userroles",
        json={"roles": [], "filters": None},
        headers=service.root(),
    )

    assert answer.json() == {"success": [], "failed": [], "filters": [filtering("cmp_a")]}


def test_no_roles_take_all_away_on_the_next_request(service: Service, person: Person) -> None:
    assert service.http.get(USERS, headers=person.core).status_code == 200

    assert replace_mappings(service, person.user_id, []).status_code == 200

    assert service.http.get(USERS, headers=person.core).status_code == 403
    assert mappings_of(service, person.username) == [("core", "billingGroup:cmp_a")]


def test_five_replace_five_but_six_do_not(service: Service, person: Person) -> None:
    assert replace_mappings(service, person.user_id, named(*SIX[:5])).status_code == 200
    assert replace_mappings(service, person.user_id, named(*SIX[1:])).status_code == 200
    before = mappings_of(service, person.username)

    answer = replace_mappings(service, person.user_id, named(*SIX), [])

    assert violations_of(answer) == [("roles", "at most 5 roles in a namespace")]
    assert mappings_of(service, person.username) == before


@pytest.mark.parametrize(
    ("roles", "filters", "violation"),
    [
        (named("role-1", "unheard-of"), [], ("roles[1].role", "an existing role")),
        (
            named("role-1"),
            [filtering("x", type_="tags")],
            ("filters[0].type", "one of billingGroup"),
        ),
        (named("role-1"), [filtering()], ("filters[0].resource", "at least one")),
    ],
)
def test_one_broken_rule_is_enough_to_change_nothing(
    service: Service, person: Person, roles: Any, filters: Any, violation: tuple[str, str]
) -> None:
    before = mappings_of(service, person.username)

    answer = replace_mappings(service, person.user_id, roles, filters)

    assert violations_of(answer) == [violation]
    assert mappings_of(service, person.username) == before


def test_the_subuser_is_named_by_its_id_alone(service: Service, person: Person) -> None:
    other = service.new_organisation()
    theirs = new_person(service, core=["ReadUsers"], organisation=other)
    before = mappings_of(service, person.username)

    for subuser in (
        person.username,
        service.organisation.root_user_id,
        "root",
        new_id("usr"),
        theirs.user_id,
        other.root_user_id,
    ):
        assert problem_of(replace_mappings(service, subuser, []), 404)["code"] == "not_found"
    assert mappings_of(service, person.username) == before
    assert len(mappings_of(service, theirs.username, service.root(other))) == 1


def test_one_who_may_replaces_ones_own_by_what_one_holds(service: Service) -> None:
    person = new_person(service, core=["ModifyRoles", "ReadUsers"])
    new_role(service, "smaller", ["ReadUsers"])
    new_role(service, "larger", ["ReadUsers", "ReadCost"])

    refused = replace_mappings(service, person.user_id, named("larger"), headers=person.core)
    answer = replace_mappings(service, person.user_id, named("smaller"), headers=person.core)

    assert problem_of(refused, 403)["code"] == "maps_more"
    assert answer.status_code == 200
    assert mappings_of(service, person.username) == [("core", "smaller")]
    assert service.http.get(USERS, headers=person.core).status_code == 200
    again = replace_mappings(service, person.user_id, named("smaller"), headers=person.core)
    assert problem_of(again, 403)["code"] == "role_action_missing"


def test_roles_are_required(service: Service, person: Person) -> None:
    without: list[dict[str, Any]] = [{}, {"filters": []}, {"roles": None}]
    for body in without:
        answer = service.http.patch(
            f"{RBAC}/{person.user_id}/userroles", json=body, headers=service.root()
        )
        assert violations_of(answer) == [("roles", "required")]
