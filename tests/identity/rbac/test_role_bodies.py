"""Field rules of the bodies that create and change roles and mappings."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.identity.rbac.bodies import RoleCreate, RolesMap, RolesReplace, RoleUpdate
from tests.body_violations import find_body_violations
from tests.identity.rbac.role_requests import build_filter, build_role_body, role_refs

NAME_VIOLATION = [("name", "6 to 32 letters and digits, hyphens and underscores between them")]
VALID_NAMES = (
    *("abcdef", "a" * 32, "ABC123", "123456", "a-b_cd", "a----b", "a____b", "0-_-_0"),
    *("Sales-team_2026-EU", f"a{'-' * 30}b"),
)
INVALID_NAMES = (
    *("abcde", "a" * 33, "", "      "),
    *("-abcdef", "abcdef-", "_abcdef", "abcdef_", "-abcdef-", "------", "______", "-_-_-_"),
    *("abcdef\n", "abcdef\r", "abc def", " abcdef", "abcdef ", "abc\tdef", "abc\u00a0def"),
    *("abc.def", "abc/def", "abc\\def", "abc%def", "abc+def", "abc@def", "abc:def", "abc'def"),
    *('abc"def', "abc,def", "abc;def", "abc*def", "abc?def", "abc<def", "abc|def", "abc#def"),
    *("ａｂｃｄｅｆ", "abc１２３", "abc－def", "abc＿def"),  # full width
    *("аbcdef", "αbcdef", "\u212aelvin", "ıbcdef", "ñbcdef", "経理担当者用", "abcdé"),
    *("abc‐def", "abc–def", "abc−def"),  # similar to the allowed hyphen
    *("abcdef\u0301", "abc\u200bdef", "abc\u00addef", "abc\u202edef", "abcdef😀", "abcdef²"),
)


def check(**changes: Any) -> list[tuple[str, str]]:
    return find_body_violations(RoleCreate, build_role_body(**changes))


def check_update(**body: Any) -> list[tuple[str, str]]:
    return find_body_violations(RoleUpdate, body)


def test_a_name_has_6_to_32_characters_with_hyphens_and_underscores_between_them() -> None:
    for name in VALID_NAMES:
        assert check(name=name) == check_update(name=name) == [], name
    for name in INVALID_NAMES:
        assert check(name=name) == check_update(name=name) == NAME_VIOLATION, name
    for value in (123456, 1, True, ["abcdef"], {"abcdef": 1}):
        assert check(name=value) == check_update(name=value) == [("name", "a text")]


@pytest.mark.parametrize("value", [None, ...])
def test_every_field_of_a_new_role_is_required(value: Any) -> None:
    for field in ("name", "namespace", "permissions"):
        assert check(**{field: value}) == [(field, "required")]


def test_every_field_of_a_change_is_optional() -> None:
    assert check_update() == check_update(name=None, permissions=None) == []


def test_the_namespace_is_core_or_portal() -> None:
    for namespace in ("legacy", "Core", "PORTAL", "", "core ", 1, ["core"], True):
        assert check(namespace=namespace) == [("namespace", "one of core, portal")]


def test_permissions_are_a_list_of_texts() -> None:
    for permissions in ("Admin", {"Admin": True}, 1):
        assert check(permissions=permissions) == [("permissions", "a list")]
    assert check(permissions=["ReadUsers", 1, None, ["Admin"]]) == [
        (f"permissions[{index}]", "a text") for index in (1, 2, 3)
    ]


def test_a_mapping_names_the_user_and_the_roles() -> None:
    def check_mapping(body: Any) -> list[tuple[str, str]]:
        return find_body_violations(RolesMap, body)

    user = {"user_id": "usr_one"}
    assert check_mapping(user | {"roles": role_refs("role-1")}) == []
    assert check_mapping({}) == [("user_id", "required"), ("roles", "required")]
    assert check_mapping(user | {"roles": "accounting"}) == [("roles", "a list")]
    assert check_mapping(user | {"roles": ["accounting"]}) == [("roles[0]", "an object")]
    assert check_mapping(user | {"roles": [{}]}) == [
        ("roles[0].namespace", "required"),
        ("roles[0].role", "required"),
    ]
    assert check_mapping(user | {"roles": role_refs("role-1", namespace="legacy")}) == [
        ("roles[0].namespace", "one of core, portal")
    ]
    assert check_mapping(user | {"roles": [], "filters": {}}) == [("filters", "a list")]
    assert check_mapping(user | {"roles": [], "filters": [{}]}) == [
        ("filters[0].namespace", "required"),
        ("filters[0].type", "required"),
        ("filters[0].resource", "required"),
    ]
    assert check_mapping({"user_id": 1, "roles": []}) == [("user_id", "a text")]


def test_a_replacement_names_the_roles() -> None:
    bodies: list[dict[str, Any]] = [{}, {"filters": []}, {"roles": None}]
    for body in bodies:
        assert find_body_violations(RolesReplace, body) == [("roles", "required")]


def test_a_resource_of_a_filter_has_1_to_512_characters() -> None:
    for resource in ("x" * 512, "😀" * 512, "部門:営業", "a:b", "%", " ", "'"):
        body = {"roles": [], "filters": [build_filter(resource)]}
        assert find_body_violations(RolesReplace, body) == []
    for resource in ("", "x" * 513):
        body = {"roles": [], "filters": [build_filter("x", resource)]}
        violations = [("filters[0].resource[1]", "length 1 to 512")]
        assert find_body_violations(RolesReplace, body) == violations
