"""POST /m/auth/rbac/roles"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nimbill.foundation.vocabulary import Product
from tests.answers import problem_of, violations_of
from tests.identity.login.asking import BOTH
from tests.identity.rbac.asking import (
    ROLE,
    create_role,
    map_roles,
    mappings_of,
    named,
    new_role,
    roles_of,
)
from tests.people import all_at_once, new_person
from tests.running_service import Service

NAME_RULE = [("name", "6 to 32 letters and digits, hyphens and underscores between them")]


def test_the_answer_is_the_role(service: Service) -> None:
    answer = create_role(service)

    assert answer.status_code == 200
    assert answer.json() == {
        "name": "accounting",
        "namespace": "core",
        "permissions": ["ReadInvoice", "ReadBillingGroup"],
    }
    assert roles_of(service) == [answer.json()]


@pytest.mark.parametrize(
    "name",
    [
        "abcdef",
        "a" * 32,
        "ABC123",
        "123456",
        "a-b_cd",
        "a----b",
        "a____b",
        "0-_-_0",
        "Sales-team_2026-EU",
        f"a{'-' * 30}b",
    ],
)
def test_a_name_has_6_to_32_characters_with_signs_between_them(service: Service, name: str) -> None:
    assert create_role(service, name=name).json()["name"] == name


NO_NAMES = (
    *("abcde", "a" * 33, "", "      "),
    *("-abcdef", "abcdef-", "_abcdef", "abcdef_", "-abcdef-", "------", "______", "-_-_-_"),
    *("abcdef\n", "abcdef\r", "abc def", " abcdef", "abcdef ", "abc\tdef", "abc\u00a0def"),
    *("abc.def", "abc/def", "abc\\def", "abc%def", "abc+def", "abc@def", "abc:def", "abc'def"),
    *('abc"def', "abc,def", "abc;def", "abc*def", "abc?def", "abc<def", "abc|def", "abc#def"),
    *("ａｂｃｄｅｆ", "abc１２３", "abc－def", "abc＿def"),  # full width
    *("аbcdef", "αbcdef", "\u212aelvin", "ıbcdef", "ñbcdef", "経理担当者用", "abcdé"),
    *("abc‐def", "abc–def", "abc−def"),  # hyphens that are not ours
    *("abcdef\u0301", "abc\u200bdef", "abc\u00addef", "abc\u202edef", "abcdef😀", "abcdef²"),
)


def test_any_other_name_is_refused(service: Service) -> None:
    for name in NO_NAMES:
        assert violations_of(create_role(service, name=name)) == NAME_RULE, name
    for no_text in (123456, True, ["abcdef"], {"abcdef": 1}):
        assert violations_of(create_role(service, name=no_text)) == [("name", "a text")]
    assert roles_of(service) == []


@pytest.mark.parametrize("field", ["name", "namespace", "permissions"])
@pytest.mark.parametrize("value", [None, ...])
def test_every_field_is_required(service: Service, field: str, value: Any) -> None:
    assert violations_of(create_role(service, **{field: value})) == [(field, "required")]


def test_there_are_two_namespaces(service: Service) -> None:
    for namespace in ("legacy", "Core", "PORTAL", "", "core ", 1, ["core"], True):
        answer = create_role(service, namespace=namespace)
        assert violations_of(answer) == [("namespace", "one of core, portal")]


@pytest.mark.parametrize(
    "permissions",
    [
        [],
        ["ReadInvoice"],
        ["ModifyProject", "ReadAudit", "ModifyAccount", "ReadAccount", "ReadCost"],
        ["ReadAccount", "ModifyAccount", "ReadAudit", "ModifyProject", "ReadCost"],
    ],
)
def test_permissions_keep_the_order_in_which_they_were_sent(
    service: Service, permissions: list[str]
) -> None:
    assert create_role(service, permissions=permissions).json()["permissions"] == permissions
    assert roles_of(service)[0]["permissions"] == permissions


def test_a_permission_that_stands_twice_counts_once(service: Service) -> None:
    answer = create_role(service, permissions=["ReadRi", "ReadCost", "ReadRi", "ReadRi"])

    assert answer.json()["permissions"] == ["ReadRi", "ReadCost"]


@pytest.mark.parametrize(
    "permissions",
    [
        ["Admin"],
        ["Admin", "ReadInvoice"],
        ["ReadInvoice", "Admin"],
        ["ReadInvoice", "Admin", "ModifyInvoice", "Admin"],
        ["Admin", "no such permission"],
    ],
)
@pytest.mark.parametrize("namespace", ["core", "portal"])
def test_admin_stands_alone(service: Service, namespace: str, permissions: list[str]) -> None:
    """All other entries are discarded and only Admin remains."""
    answer = create_role(service, namespace=namespace, permissions=permissions)

    assert answer.status_code == 200
    assert answer.json()["permissions"] == ["Admin"]
    assert roles_of(service)[0]["permissions"] == ["Admin"]


def test_an_unknown_permission_is_refused_by_its_place(service: Service) -> None:
    sent = ["ReadInvoice", "readinvoice", "ReadUsers", "ReadInvoice ", "admin", ""]

    answer = create_role(service, permissions=sent)

    rule = "offered in namespace core"
    assert violations_of(answer) == [(f"permissions[{index}]", rule) for index in (1, 3, 4, 5)]
    assert roles_of(service) == []


@pytest.mark.parametrize(
    ("namespace", "permission"),
    [
        ("core", "ReadTags"),
        ("core", "ReadGroups"),
        ("core", "ModifyBudget"),
        ("core", "DownloadReports"),
        ("portal", "ReadAudit"),
        ("portal", "ModifyInvoice"),
        ("portal", "ReadCost"),
        ("portal", "ReadProject"),
        ("portal", "ModifyBillingGroup"),
    ],
)
def test_a_permission_of_the_other_namespace_is_refused(
    service: Service, namespace: str, permission: str
) -> None:
    sent = ["ReadAccount", permission]

    answer = create_role(service, namespace=namespace, permissions=sent)

    assert violations_of(answer) == [("permissions[1]", f"offered in namespace {namespace}")]


def test_permissions_are_a_list_of_texts(service: Service) -> None:
    for permissions in ("Admin", {"Admin": True}, 1):
        answer = create_role(service, permissions=permissions)
        assert violations_of(answer) == [("permissions", "a list")]
    answer = create_role(service, permissions=["ReadUsers", 1, None, ["Admin"]])
    assert violations_of(answer) == [(f"permissions[{index}]", "a text") for index in (1, 2, 3)]


def test_every_broken_rule_is_named_at_once(service: Service) -> None:
    answer = create_role(service, name="-", namespace="other", permissions=[1])

    assert sorted(violations_of(answer)) == sorted(
        [*NAME_RULE, ("namespace", "one of core, portal"), ("permissions[0]", "a text")]
    )


def test_a_name_is_unique_in_its_namespace_and_free_in_the_other(service: Service) -> None:
    new_role(service)

    answer = create_role(service, permissions=[])

    assert problem_of(answer, 409)["code"] == "role_name_taken"
    assert create_role(service, namespace="portal", permissions=["ReadTags"]).status_code == 200
    assert create_role(service, name="Accounting").status_code == 200
    assert [one["permissions"] for one in roles_of(service)] == [
        ["ReadInvoice", "ReadBillingGroup"],
        ["ReadInvoice"],
        ["ReadTags"],
    ]


def test_another_organisation_may_use_the_same_name(service: Service) -> None:
    new_role(service)
    other = service.new_organisation()

    assert create_role(service, service.root(other)).status_code == 200
    assert len(roles_of(service)) == 1


def test_of_many_at_once_one_gets_the_name(service: Service) -> None:
    answers = all_at_once([partial(create_role, service, permissions=[]) for _ in range(6)])

    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
    codes = {answer.json()["code"] for answer in answers if answer.status_code == 409}
    assert codes == {"role_name_taken"}
    assert len(roles_of(service)) == 1


@pytest.mark.parametrize("product", BOTH)
def test_a_role_made_by_a_subuser_is_there_for_all(service: Service, product: Product) -> None:
    """Roles belong to the root user, whoever makes them."""
    maker = new_person(service, core=["ModifyRoles"], portal=["ModifyRoles"])
    reader, mapper = new_person(service, core=["ReadRoles"]), new_person(service, core=["Admin"])
    made = create_role(service, maker.headers(product), permissions=["ModifyRoles"]).json()

    assert made in roles_of(service)
    assert made in roles_of(service, reader.core)
    assert map_roles(service, reader.user_id, named("accounting"), headers=mapper.core).is_success
    assert ("core", "accounting") in mappings_of(service, reader.username)

    service.http.delete(f"/m/u/users/{maker.user_id}", headers=service.root())

    assert made in roles_of(service, reader.core)


def test_fields_nobody_asked_for_change_nothing(service: Service) -> None:
    answer = create_role(service, root_user="usr_x", organisation_id="org_x", users=["usr_x"])

    assert answer.json() == ROLE
