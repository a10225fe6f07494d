"""POST /m/auth/rbac/userroles"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product
from tests.answers import violations_of
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import (
    MAPPINGS,
    create_role,
    delete_role,
    filtering,
    have_roles,
    map_roles,
    mappings_of,
    named,
    new_role,
    replace_mappings,
    update_role,
)
from tests.identity.users.subusers import USERS
from tests.people import Person, all_at_once, new_person
from tests.running_service import Service

SIX = [f"role-{number}" for number in range(6)]
TOO_MANY = [("roles", "at most 5 roles in a namespace")]


@pytest.fixture
def person(service: Service) -> Person:
    return new_person(service)


@pytest.fixture
def six(service: Service) -> list[str]:
    """Six roles in each namespace."""
    have_roles(service, SIX, ["ReadUsers"])
    return SIX


@pytest.mark.parametrize("product", BOTH)
def test_the_answer_tells_roles_and_filters(
    service: Service, person: Person, six: list[str], product: Product
) -> None:
    roles = named("role-1", "role-0") + named("role-1", namespace="portal")

    answer = map_roles(
        service,
        person.user_id,
        roles,
        [filtering("cmp_b", "cmp_a"), filtering("x", namespace="portal", type_="tags")],
        headers=service.root(product=product),
    )

    assert answer.status_code == 200
    assert answer.json() == {
        "success": ["role-1", "role-0", "role-1"],
        "failed": [],
        "filters": [
            {"namespace": "core", "type": "billingGroup", "resource": ["cmp_a", "cmp_b"]},
            {"namespace": "portal", "type": "tags", "resource": ["x"]},
        ],
    }


def test_roles_and_filters_are_added_to_those_that_are_there(
    service: Service, person: Person, six: list[str]
) -> None:
    map_roles(service, person.user_id, named("role-0"), [filtering("cmp_a")])

    answer = map_roles(service, person.user_id, named("role-1", "role-0"), [filtering("cmp_b")])

    assert answer.json()["success"] == ["role-1", "role-0"]
    assert answer.json()["filters"] == [filtering("cmp_a", "cmp_b")]
    assert mappings_of(service, person.username) == [
        ("core", "role-0"),
        ("core", "role-1"),
        ("core", "billingGroup:cmp_a"),
        ("core", "billingGroup:cmp_b"),
    ]


def test_they_take_effect_on_the_next_request(
    service: Service, person: Person, six: list[str]
) -> None:
    assert service.http.get(USERS, headers=person.core).status_code == 403

    map_roles(service, person.user_id, named("role-0"))

    assert service.http.get(USERS, headers=person.core).status_code == 200
    assert service.http.get(USERS, headers=person.portal).status_code == 403


def test_five_of_each_namespace_are_fine_and_the_sixth_changes_nothing(
    service: Service, person: Person, six: list[str]
) -> None:
    for namespace in ("core", "portal"):
        five = map_roles(service, person.user_id, named(*six[:5], namespace=namespace))
        assert five.status_code == 200
    before = mappings_of(service, person.username)
    assert len(before) == 10

    for roles in (
        named(six[5]),
        named(six[5], namespace="portal"),
        named(six[0], six[5]),
        named(six[0], namespace="portal") + named(six[5]),
    ):
        answer = map_roles(service, person.user_id, roles, [filtering("cmp_a")])
        assert violations_of(answer) == TOO_MANY

    assert mappings_of(service, person.username) == before
    assert map_roles(service, person.user_id, named(*six[:5])).status_code == 200


def test_six_at_once_are_refused_and_none_of_them_is_mapped(
    service: Service, person: Person, six: list[str]
) -> None:
    assert violations_of(map_roles(service, person.user_id, named(*six))) == TOO_MANY
    in_both = named(*six) + named(*six, namespace="portal")
    assert violations_of(map_roles(service, person.user_id, in_both)) == TOO_MANY * 2
    assert mappings_of(service, person.username) == []


def test_the_same_role_twice_counts_once(service: Service, person: Person, six: list[str]) -> None:
    answer = map_roles(service, person.user_id, named(*six[:5], *six[:5]))

    assert answer.json()["success"] == six[:5]
    assert len(mappings_of(service, person.username)) == 5


def test_of_many_mapped_at_once_never_more_than_five_stay(
    service: Service, person: Person, six: list[str]
) -> None:
    calls = [partial(map_roles, service, person.user_id, named(role)) for role in six]
    calls += [partial(replace_mappings, service, person.user_id, named(role)) for role in six[:2]]

    for _ in range(3):
        answers = all_at_once(calls)

        assert {answer.status_code for answer in answers} <= {200, 400}
        assert 1 <= len(mappings_of(service, person.username)) <= 5


def test_of_six_at_once_five_are_mapped_and_one_is_refused(
    service: Service, person: Person, six: list[str]
) -> None:
    answers = all_at_once(
        [partial(map_roles, service, person.user_id, named(role)) for role in six]
    )

    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [400]
    assert len(mappings_of(service, person.username)) == 5


def test_the_same_roles_are_mapped_to_many_at_once(service: Service, six: list[str]) -> None:
    """In whatever order each names them: nobody waits in a circle."""
    people = [new_person(service) for _ in range(8)]

    answers = all_at_once(
        [
            partial(map_roles, service, one.user_id, named(*six[:5][:: 1 if index % 2 else -1]))
            for index, one in enumerate(people)
        ]
    )

    assert [answer.status_code for answer in answers] == [200] * 8


def test_changes_of_user_role_and_mapping_at_once_do_not_wait_in_a_circle(
    service: Service, six: list[str]
) -> None:
    for number in range(3):
        one, role, root = new_person(service), new_role(service, f"circle-{number}"), service.root()
        map_roles(service, one.user_id, named(role))

        answers = all_at_once(
            [
                partial(replace_mappings, service, one.user_id, named(role)),
                partial(map_roles, service, one.user_id, named(role, six[0])),
                partial(update_role, service, role, name=f"circle-{number}-new"),
                partial(delete_role, service, six[number]),
                partial(service.http.delete, f"{USERS}/{one.user_id}", headers=root),
            ]
        )

        assert max(answer.status_code for answer in answers) < 500


@pytest.mark.parametrize(
    ("roles", "filters", "violations"),
    [
        (named("role-0", "unheard-of"), None, [("roles[1].role", "an existing role")]),
        (named("Role-0"), None, [("roles[0].role", "an existing role")]),
        (named("", "role-0"), None, [("roles[0].role", "an existing role")]),
        (named("of-core", namespace="portal"), None, [("roles[0].role", "an existing role")]),
        (
            named("role-0", namespace="legacy"),
            None,
            [("roles[0].namespace", "one of core, portal")],
        ),
        (
            named("role-0"),
            [filtering("x"), filtering("x", type_="BillingGroup")],
            [("filters[1].type", "one of billingGroup")],
        ),
        (
            named("role-0"),
            [filtering("x", namespace="portal", type_="billingGroup")],
            [("filters[0].type", "one of linkAcct, group, tags")],
        ),
        (named("role-0"), [filtering()], [("filters[0].resource", "at least one")]),
        (named("role-0"), [filtering("")], [("filters[0].resource[0]", "length 1 to 512")]),
        (
            named("role-0"),
            [filtering("x", "x" * 513)],
            [("filters[0].resource[1]", "length 1 to 512")],
        ),
        (
            named("unheard-of", *SIX),
            [filtering(type_="tags")],
            [
                ("roles[0].role", "an existing role"),
                ("filters[0].type", "one of billingGroup"),
                ("filters[0].resource", "at least one"),
                *TOO_MANY,
            ],
        ),
    ],
)
def test_one_broken_rule_is_enough_to_change_nothing(
    service: Service,
    person: Person,
    six: list[str],
    roles: list[dict[str, str]],
    filters: Any,
    violations: list[tuple[str, str]],
) -> None:
    new_role(service, "of-core")

    answer = map_roles(service, person.user_id, roles, filters)

    assert violations_of(answer) == violations
    assert mappings_of(service, person.username) == []


def test_roles_are_mapped_to_a_subuser_named_by_its_id(
    service: Service, person: Person, six: list[str]
) -> None:
    other = service.new_organisation()
    theirs = new_person(service, organisation=other)

    for user_id in (
        new_id("usr"),
        person.username,
        "",
        service.organisation.root_user_id,
        theirs.user_id,
        other.root_user_id,
    ):
        answer = map_roles(service, user_id, named("role-0"))
        assert violations_of(answer) == [("user_id", "an existing subuser")]
    assert mappings_of(service, theirs.username, service.root(other)) == []


def test_a_role_of_another_organisation_is_as_unknown_as_any(
    service: Service, person: Person
) -> None:
    create_role(service, service.root(service.new_organisation()), name="of-others")

    answer = map_roles(service, person.user_id, named("of-others"))

    assert violations_of(answer) == [("roles[0].role", "an existing role")]


@pytest.mark.parametrize(
    ("namespace", "types"), [("portal", ["linkAcct", "group", "tags"]), ("core", ["billingGroup"])]
)
def test_each_namespace_has_its_types_of_filters(
    service: Service, person: Person, namespace: str, types: list[str]
) -> None:
    sound = [filtering("a", "b", namespace=namespace, type_=type_) for type_ in types]

    answer = map_roles(service, person.user_id, [], sound)

    assert answer.status_code == 200
    assert mappings_of(service, person.username) == [
        (namespace, f"{type_}:{resource}") for type_ in sorted(types) for resource in ("a", "b")
    ]
    for type_ in ("linkAcct", "group", "tags", "billingGroup", "linkacct", "", "account"):
        answer = map_roles(
            service, person.user_id, [], [filtering("a", namespace=namespace, type_=type_)]
        )
        assert answer.is_success == (type_ in types), type_


def test_there_may_be_any_number_of_filters(service: Service, person: Person) -> None:
    many = [f"cmp_{number:04}" for number in range(800)]
    rules = [filtering(*many[:400]), *(filtering(one) for one in many[400:])]

    answer = map_roles(service, person.user_id, [], rules)

    assert answer.json()["filters"] == [filtering(*many)]
    assert len(mappings_of(service, person.username)) == 800


@pytest.mark.parametrize("resource", ["x" * 512, "😀" * 512, "部門:営業", "a:b", "%", " ", "'"])
def test_a_resource_is_any_text_of_1_to_512_characters(
    service: Service, person: Person, resource: str
) -> None:
    rule = filtering(resource, namespace="portal", type_="tags")

    assert map_roles(service, person.user_id, [], [rule]).json()["filters"] == [rule]
    assert mappings_of(service, person.username) == [("portal", f"tags:{resource}")]


def test_filters_narrow_what_is_seen_on_the_next_request(service: Service) -> None:
    person = new_person(service, core=["ReadBillingGroup"])
    group = {"billinggroup_name": "a", "company_name": "b", "inv_aggregate": True}
    ids = [
        service.http.post(
            "/m/core/billinggroup", json={**group, "billinggroup_id": one}, headers=service.root()
        ).json()["company_id"]
        for one in ("first", "second")
    ]

    def seen() -> list[str]:
        groups = service.http.get("/m/core/billinggroup", headers=person.core).json()
        return [one["company_id"] for one in groups]

    assert sorted(seen()) == sorted(ids)
    map_roles(service, person.user_id, [], [filtering(ids[1])])
    assert seen() == [ids[1]]
    replace_mappings(service, person.user_id, named(f"role-{person.user_id[-12:]}"), [])
    assert sorted(seen()) == sorted(ids)


def test_the_body_names_user_and_roles(service: Service, person: Person) -> None:
    def broken(body: Any) -> list[tuple[str, str]]:
        return violations_of(service.http.post(MAPPINGS, json=body, headers=service.root()))

    user = {"user_id": person.user_id}
    assert broken({}) == [("user_id", "required"), ("roles", "required")]
    assert broken(user | {"roles": "accounting"}) == [("roles", "a list")]
    assert broken(user | {"roles": ["accounting"]}) == [("roles[0]", "an object")]
    assert broken(user | {"roles": [{}]}) == [
        ("roles[0].namespace", "required"),
        ("roles[0].role", "required"),
    ]
    assert broken(user | {"roles": [], "filters": {}}) == [("filters", "a list")]
    assert broken(user | {"roles": [], "filters": [{}]}) == [
        ("filters[0].namespace", "required"),
        ("filters[0].type", "required"),
        ("filters[0].resource", "required"),
    ]
    assert broken({"user_id": 1, "roles": []}) == [("user_id", "a text")]
