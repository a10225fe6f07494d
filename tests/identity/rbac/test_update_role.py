"""PATCH /m/auth/rbac/roles/{namespace}/{rolename}"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of, violations_of
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import (
    ROLES,
    create_role,
    map_roles,
    mappings_of,
    named,
    new_role,
    permissions_of,
    roles_of,
    update_role,
)
from tests.identity.rbac.test_create_role import NAME_RULE, NO_NAMES
from tests.identity.users.subusers import USERS
from tests.people import all_at_once, new_person
from tests.running_service import Service


@pytest.mark.parametrize("product", BOTH)
def test_both_fields_change_and_the_answer_is_the_role(service: Service, product: Product) -> None:
    new_role(service)

    answer = update_role(
        service,
        headers=service.root(product=product),
        name="book-keeping",
        permissions=["ReadCost", "ReadAudit"],
    )

    assert answer.status_code == 200
    assert answer.json() == {
        "name": "book-keeping",
        "namespace": "core",
        "permissions": ["ReadCost", "ReadAudit"],
    }
    assert roles_of(service) == [answer.json()]


@pytest.mark.parametrize(
    ("body", "name", "permissions"),
    [
        ({}, "accounting", ["ReadInvoice"]),
        ({"name": None, "permissions": None}, "accounting", ["ReadInvoice"]),
        ({"name": "book-keeping"}, "book-keeping", ["ReadInvoice"]),
        ({"name": "accounting"}, "accounting", ["ReadInvoice"]),
        ({"permissions": []}, "accounting", []),
        ({"permissions": ["ReadRi", "ReadCost", "ReadRi"]}, "accounting", ["ReadRi", "ReadCost"]),
        ({"permissions": ["ReadRi", "Admin", "ReadCost"]}, "accounting", ["Admin"]),
        ({"permissions": ["no such one", "Admin"]}, "accounting", ["Admin"]),
    ],
)
def test_what_is_not_sent_stays(
    service: Service, body: dict[str, Any], name: str, permissions: list[str]
) -> None:
    new_role(service)

    answer = update_role(service, **body)

    assert answer.status_code == 200
    assert roles_of(service) == [{"name": name, "namespace": "core", "permissions": permissions}]


def test_a_new_name_follows_into_the_mappings(service: Service) -> None:
    """And into those of its namespace alone."""
    new_role(service)
    new_role(service, namespace="portal")
    people = [new_person(service) for _ in range(3)]
    for person in people:
        both = named("accounting") + named("accounting", namespace="portal")
        map_roles(service, person.user_id, both)

    update_role(service, name="book-keeping")

    for person in people:
        assert mappings_of(service, person.username) == [
            ("core", "book-keeping"),
            ("portal", "accounting"),
        ]
        assert permissions_of(service, person.username)["core"] == ["ReadInvoice"]


def test_the_old_name_is_free_again_and_means_nothing_any_more(service: Service) -> None:
    new_role(service)
    update_role(service, name="book-keeping")
    person = new_person(service)

    assert violations_of(map_roles(service, person.user_id, named("accounting")))
    assert problem_of(update_role(service, permissions=[]), 404)["code"] == "not_found"
    assert create_role(service).status_code == 200


def test_it_takes_effect_on_the_very_next_request_of_those_who_have_it(service: Service) -> None:
    new_role(service, permissions=["ReadUsers"])
    person = new_person(service)
    map_roles(service, person.user_id, named("accounting"))
    assert service.http.get(USERS, headers=person.core).status_code == 200

    update_role(service, permissions=["ReadRoles"])

    assert service.http.get(USERS, headers=person.core).status_code == 403
    assert service.http.get(ROLES, headers=person.core).status_code == 200

    update_role(service, permissions=["Admin"], name="everything")

    assert service.http.get(USERS, headers=person.core).status_code == 200
    assert service.http.get(USERS, headers=person.portal).status_code == 403

    update_role(service, "everything", permissions=[])

    assert service.http.get(USERS, headers=person.core).status_code == 403


def test_a_name_in_use_is_refused_and_nothing_changes(service: Service) -> None:
    new_role(service)
    new_role(service, "taken-1", ["ReadCost"])
    new_role(service, "taken-2", [], "portal")
    before = roles_of(service)

    answer = update_role(service, name="taken-1", permissions=["ReadAudit"])

    assert problem_of(answer, 409)["code"] == "role_name_taken"
    assert roles_of(service) == before
    assert update_role(service, name="taken-2").status_code == 200


def test_a_new_name_has_6_to_32_characters_with_signs_between_them(service: Service) -> None:
    new_role(service)
    for name in NO_NAMES:
        assert violations_of(update_role(service, name=name)) == NAME_RULE, name
    for name in ("abcdef", "a" * 32):
        assert update_role(service, name=name).json()["name"] == name
        assert update_role(service, name, name="accounting").status_code == 200
    for no_text in (1, ["abcdef"], True):
        assert violations_of(update_role(service, name=no_text)) == [("name", "a text")]


def test_an_unknown_permission_is_refused_by_its_place(service: Service) -> None:
    new_role(service)
    new_role(service, namespace="portal")

    in_core = update_role(service, permissions=["ReadRi", "ReadTags", "admin"])
    in_portal = update_role(service, namespace="portal", permissions=["ReadAudit", "ReadTags"])

    assert violations_of(in_core) == [
        ("permissions[1]", "offered in namespace core"),
        ("permissions[2]", "offered in namespace core"),
    ]
    assert violations_of(in_portal) == [("permissions[0]", "offered in namespace portal")]
    assert {tuple(role["permissions"]) for role in roles_of(service)} == {("ReadInvoice",)}


def test_the_namespace_of_a_role_does_not_change(service: Service) -> None:
    new_role(service)

    answer = update_role(service, namespace="core", root_user="usr_x")
    sent = service.http.patch(
        f"{ROLES}/core/accounting", json={"namespace": "portal"}, headers=service.root()
    )

    assert answer.json()["namespace"] == sent.json()["namespace"] == "core"
    assert [role["namespace"] for role in roles_of(service)] == ["core"]


def test_what_is_not_there_is_not_found(service: Service) -> None:
    new_role(service)
    other = service.new_organisation()
    create_role(service, service.root(other), name="of-others")

    for namespace, role in (
        ("core", "nothing"),
        ("portal", "accounting"),
        ("legacy", "accounting"),
        ("Core", "accounting"),
        ("core", "Accounting"),
        ("core", "of-others"),
        ("core", "%20"),
    ):
        answer = update_role(service, role, namespace=namespace, permissions=["Admin"])
        assert problem_of(answer, 404)["code"] == "not_found", (namespace, role)
    assert roles_of(service, service.root(other))[0]["permissions"] != ["Admin"]


def test_of_many_renamings_at_once_one_gets_the_name(service: Service) -> None:
    names = [f"role-{number}" for number in range(6)]
    for name in names:
        new_role(service, name)

    answers = all_at_once([partial(update_role, service, name, name="wanted") for name in names])

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
    assert {one.json()["code"] for one in answers if one.status_code == 409} == {"role_name_taken"}
    left = [role["name"] for role in roles_of(service)]
    assert left.count("wanted") == 1
    assert len(left) == 6


def test_roles_that_swap_their_names_at_once_do_not_wait_for_each_other(service: Service) -> None:
    pairs = [("first-role", "second-role"), ("second-role", "first-role")]
    for name, _ in pairs:
        new_role(service, name)

    answers = all_at_once([partial(update_role, service, old, name=new) for old, new in pairs * 3])

    assert {answer.status_code for answer in answers} == {409}
