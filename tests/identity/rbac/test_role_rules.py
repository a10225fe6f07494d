"""Role names, how many roles, Admin alone and the types of filters, rule by rule."""

from __future__ import annotations

from itertools import product
from string import ascii_letters, digits
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.access.role_actions import OFFERED
from nimbill.foundation.vocabulary import Product
from nimbill.identity.rbac.role_rules import (
    FILTER_TYPES,
    ROLES_PER_NAMESPACE_MAX,
    admin_alone,
    filter_violations,
    permission_violations,
    role_name_violations,
    too_many_roles,
)
from tests.characters import CHARACTERS
from tests.contract.specification import section, specification

PLAIN = set(ascii_letters + digits)


def is_role_name(name: object) -> bool:
    broken = list(role_name_violations(name))
    assert [violation.field for violation in broken] in ([], ["name"])
    return not broken


def test_the_limits_are_those_of_the_specification() -> None:
    limits = section(specification(), "Limits")

    assert "| 6 to 32 characters, alphanumeric, hyphen and underscore allowed between" in limits
    assert f"| per namespace | at most {ROLES_PER_NAMESPACE_MAX} |" in limits


def test_a_name_has_6_to_32_characters() -> None:
    assert [length for length in range(40) if is_role_name("a" * length)] == list(range(6, 33))


def test_between_two_others_every_plain_character_hyphen_and_underscore_may_stand() -> None:
    allowed = {one for one in CHARACTERS if is_role_name(f"ab{one}cde")}

    assert allowed == PLAIN | {"-", "_"}


def test_at_an_end_only_plain_characters_may_stand() -> None:
    assert {one for one in CHARACTERS if is_role_name(f"{one}abcde")} == PLAIN
    assert {one for one in CHARACTERS if is_role_name(f"abcde{one}")} == PLAIN


@given(st.text(alphabet="aZ09-_. é\n", max_size=40))
def test_a_name_is_judged_as_the_sentence_says(name: str) -> None:
    """At most 32 and at least 6, alphanumeric, hyphens and underscores between characters."""
    as_said = (
        6 <= len(name) <= 32
        and all(one in PLAIN | {"-", "_"} for one in name)
        and name[0] in PLAIN
        and name[-1] in PLAIN
    )
    assert is_role_name(name) is as_said


@pytest.mark.parametrize("name", [None, 123456, True, ["abcdef"], b"abcdef", {"abcdef": 1}])
def test_what_is_no_text_is_no_name(name: Any) -> None:
    assert not is_role_name(name)


def test_admin_stands_alone_wherever_it_stands() -> None:
    words = ("Admin", "ReadRi", "ReadCost")
    for count in range(5):
        for permissions in product(words, repeat=count):
            alone = admin_alone(permissions)
            if "Admin" in permissions:
                assert alone == ["Admin"]
            else:
                assert set(alone) == set(permissions)
                assert alone == sorted(set(permissions), key=permissions.index)


@pytest.mark.parametrize("namespace", [Product.core, Product.portal])
def test_a_namespace_permits_what_it_offers_and_nothing_else(namespace: Product) -> None:
    known = sorted({action for offered in OFFERED.values() for action in offered} - {"Admin"})

    broken = list(permission_violations(namespace, [*known, "Nothing", ""]))

    unoffered = [
        index
        for index, action in enumerate([*known, "Nothing", ""])
        if action not in OFFERED[namespace]
    ]
    assert broken == [
        (f"permissions[{index}]", f"offered in namespace {namespace}") for index in unoffered
    ]
    assert len(unoffered) > 2


@pytest.mark.parametrize("namespace", [Product.core, Product.portal])
def test_what_admin_discards_is_not_looked_at(namespace: Product) -> None:
    assert not list(permission_violations(namespace, ["Nothing", "Admin", "ReadTags", "ReadCost"]))
    assert not list(permission_violations(namespace, []))


def test_the_types_of_filters_are_those_of_the_specification() -> None:
    rules = section(specification(), "Access control")
    told = "; ".join(
        f"namespace `{namespace}`: " + ", ".join(f"`{type_}`" for type_ in types)
        for namespace, types in FILTER_TYPES.items()
    )

    assert f"8. Filtering-rule `type` values: {told}." in rules


@pytest.mark.parametrize("namespace", ["core", "portal"])
def test_a_filter_has_a_type_of_its_namespace_and_names_something(namespace: str) -> None:
    every = [type_ for types in FILTER_TYPES.values() for type_ in types]
    for type_ in [*every, "", "Tags", "account"]:
        for resources in ([], ["x"], ["x", "y"]):
            broken = list(
                filter_violations(3, namespace=namespace, type_=type_, resources=resources)
            )
            fields = [violation.field for violation in broken]
            assert ("filters[3].type" in fields) is (type_ not in FILTER_TYPES[namespace])
            assert ("filters[3].resource" in fields) is (resources == [])
            assert len(fields) == len(set(fields)) <= 2


def test_five_roles_are_enough_in_each_namespace() -> None:
    for in_core, in_portal, twice in product(range(8), range(8), (1, 2)):
        keys = [("core", f"role-{one}") for one in range(in_core)] * twice
        keys += [("portal", f"role-{one}") for one in range(in_portal)] * twice
        assert bool(list(too_many_roles("core", keys))) is (in_core > 5)
        assert bool(list(too_many_roles("portal", keys))) is (in_portal > 5)
    assert list(too_many_roles("core", [("core", str(one)) for one in range(6)])) == [
        ("roles", "at most 5 roles in a namespace")
    ]
