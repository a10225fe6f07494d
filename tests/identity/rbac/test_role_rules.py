"""Rules of role names, permissions, number of roles and filters."""

from __future__ import annotations

from itertools import product
from string import ascii_letters, digits
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT
from nimbill.foundation.errors import Violation
from nimbill.foundation.product import Product
from nimbill.identity.rbac.role_rules import (
    FILTER_TYPES,
    ROLES_PER_NAMESPACE_MAX,
    find_filter_violations,
    find_permission_violations,
    find_role_count_violations,
    find_role_name_violations,
    normalize_permissions,
)
from tests.contract.specification import find_section, read_specification, read_table
from tests.sample_characters import CHARACTERS

ALPHANUMERIC = set(ascii_letters + digits)


def is_role_name(name: object) -> bool:
    violations = list(find_role_name_violations(name))
    assert [violation.field for violation in violations] in ([], ["name"])
    return not violations


def test_the_limits_are_those_of_the_specification() -> None:
    limits = find_section(read_specification(), "Limits")

    assert "| 6 to 32 characters, alphanumeric, hyphen and underscore allowed between" in limits
    assert f"| per namespace | at most {ROLES_PER_NAMESPACE_MAX} |" in limits


def test_a_name_has_6_to_32_characters() -> None:
    assert [length for length in range(40) if is_role_name("a" * length)] == list(range(6, 33))


def test_hyphens_and_underscores_are_allowed_between_other_characters() -> None:
    allowed = {each for each in CHARACTERS if is_role_name(f"ab{each}cde")}

    assert allowed == ALPHANUMERIC | {"-", "_"}


def test_only_letters_and_digits_are_allowed_at_the_start_and_the_end() -> None:
    assert {each for each in CHARACTERS if is_role_name(f"{each}abcde")} == ALPHANUMERIC
    assert {each for each in CHARACTERS if is_role_name(f"abcde{each}")} == ALPHANUMERIC


@given(st.text(alphabet="aZ09-_. é\n", max_size=40))
def test_any_text_is_checked_for_length_and_characters(name: str) -> None:
    expected = (
        6 <= len(name) <= 32
        and all(character in ALPHANUMERIC | {"-", "_"} for character in name)
        and name[0] in ALPHANUMERIC
        and name[-1] in ALPHANUMERIC
    )
    assert is_role_name(name) is expected


@pytest.mark.parametrize("name", [None, 123456, True, ["abcdef"], b"abcdef", {"abcdef": 1}])
def test_values_of_a_wrong_type_are_refused(name: Any) -> None:
    assert not is_role_name(name)


def test_admin_replaces_all_other_permissions_and_duplicates_are_removed() -> None:
    words = ("Admin", "ReadRi", "ReadCost")
    for count in range(5):
        for permissions in product(words, repeat=count):
            normalized = normalize_permissions(permissions)
            if "Admin" in permissions:
                assert normalized == ["Admin"]
            else:
                assert set(normalized) == set(permissions)
                assert normalized == sorted(set(permissions), key=permissions.index)


@pytest.mark.parametrize("namespace", [Product.core, Product.portal])
def test_only_permissions_of_the_namespace_are_accepted(namespace: Product) -> None:
    known = sorted(
        {action for offered in PERMISSIONS_BY_PRODUCT.values() for action in offered} - {"Admin"}
    )

    violations = list(find_permission_violations(namespace, [*known, "Nothing", ""]))

    expected = [
        index
        for index, action in enumerate([*known, "Nothing", ""])
        if action not in PERMISSIONS_BY_PRODUCT[namespace]
    ]
    assert violations == [
        (f"permissions[{index}]", f"offered in namespace {namespace}") for index in expected
    ]
    assert len(expected) > 2


@pytest.mark.parametrize("namespace", [Product.core, Product.portal])
def test_permissions_next_to_admin_are_not_checked(namespace: Product) -> None:
    assert not list(
        find_permission_violations(namespace, ["Nothing", "Admin", "ReadTags", "ReadCost"])
    )
    assert not list(find_permission_violations(namespace, []))


def test_the_filter_types_are_those_of_the_specification() -> None:
    assert read_table("Filtering rules", "Namespace") == [
        [f"`{namespace}`", ", ".join(f"`{type_}`" for type_ in types)]
        for namespace, types in FILTER_TYPES.items()
    ]


@pytest.mark.parametrize("namespace", ["core", "portal"])
def test_a_filter_has_a_type_of_its_namespace_and_a_resource(namespace: str) -> None:
    all_types = [type_ for types in FILTER_TYPES.values() for type_ in types]
    for type_ in [*all_types, "", "Tags", "account"]:
        for resources in ([], ["x"], ["x", "y"]):
            violations = list(
                find_filter_violations(3, namespace=namespace, type_=type_, resources=resources)
            )
            fields = [violation.field for violation in violations]
            assert ("filters[3].type" in fields) is (type_ not in FILTER_TYPES[namespace])
            assert ("filters[3].resource" in fields) is (resources == [])
            assert len(fields) == len(set(fields)) <= 2


def test_a_filter_on_tags_names_key_and_value() -> None:
    def find_refused(type_: str, *resources: str) -> list[Violation]:
        return list(find_filter_violations(1, namespace="portal", type_=type_, resources=resources))

    assert find_refused("tags", "Team=red", "Team=", "部門=a=b", " = ") == []
    assert find_refused("tags", "Team=red", "Team", "=red") == [
        ("filters[1].resource[1]", "a tag as KEY=VALUE"),
        ("filters[1].resource[2]", "a tag as KEY=VALUE"),
    ]
    assert find_refused("linkAcct", "Team") == []


def test_a_user_has_at_most_five_roles_in_each_namespace() -> None:
    for in_core, in_portal, copies in product(range(8), range(8), (1, 2)):
        keys = [("core", f"role-{number}") for number in range(in_core)] * copies
        keys += [("portal", f"role-{number}") for number in range(in_portal)] * copies
        assert bool(list(find_role_count_violations("core", keys))) is (in_core > 5)
        assert bool(list(find_role_count_violations("portal", keys))) is (in_portal > 5)
    assert list(
        find_role_count_violations("core", [("core", str(number)) for number in range(6)])
    ) == [("roles", "at most 5 roles in a namespace")]
