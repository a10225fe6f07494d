"""Bodies and limits of access, against the specification's own tables and sentences."""

import re
from typing import Any

import msgspec
import pytest

from nimbill.identity.login.bodies import TokenAnswer
from nimbill.identity.rbac.bodies import PermissionListing
from nimbill.identity.rbac.role_rules import (
    FILTER_TYPES,
    ROLES_PER_NAMESPACE_MAX,
    role_name_violations,
)
from nimbill.identity.users.bodies import ApiClient, SubuserCreate
from nimbill.identity.users.user_rules import password_violations, username_violations
from nimbill.legacy.login.bodies import LegacyTokenAnswer
from tests.contract.specification import find_section, parse_table, read_specification

Body = type[msgspec.Struct]


def specified(heading: str) -> list[list[str]]:
    return parse_table(find_section(read_specification(), heading), "Field")


def fields_of(body: Body, before: str = "") -> list[str]:
    """Field names as the specification writes them, those of an inner object after a point."""
    names = []
    for field in msgspec.structs.fields(body):
        inner = isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
        name = before + field.encode_name
        names += fields_of(field.type, f"{name}.") if inner else [name]
    return names


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        ("Token response", TokenAnswer),
        ("Permission listing item", PermissionListing),
        ("API client", ApiClient),
        ("Subuser creation body", SubuserCreate),
    ],
)
def test_a_body_has_the_rows_of_its_table_in_order(heading: str, body: Body) -> None:
    assert fields_of(body) == [row[0] for row in specified(heading)]


def test_what_is_required_of_a_subuser() -> None:
    rows = {row[0].partition(".")[0]: row[2] == "Yes" for row in specified("Subuser creation body")}

    assert rows == {field.name: field.required for field in msgspec.structs.fields(SubuserCreate)}


def test_the_legacy_token_answer_has_three_fields() -> None:
    said = re.search(r"legacy token endpoint returns only (.*?)\.", read_specification())

    assert said is not None
    assert fields_of(LegacyTokenAnswer) == re.split(r", | and ", said[1])


def limits() -> dict[tuple[str, str], str]:
    rows = parse_table(find_section(read_specification(), "Limits"), "Limit")
    return {(limit, to): value for limit, to, value in rows}


@pytest.mark.parametrize(
    ("limit", "to", "violations"),
    [
        ("Role name length", "create role (RBAC)", role_name_violations),
        ("username", "create subuser", username_violations),
        ("password", "create subuser", password_violations),
    ],
)
def test_a_length_is_the_stated_one(limit: str, to: str, violations: Any) -> None:
    stated = re.match(r"(\d+) to (\d+) characters", limits()[limit, to])

    assert stated is not None
    least, most = int(stated[1]), int(stated[2])
    assert not list(violations("a" * least))
    assert not list(violations("a" * most))
    assert list(violations("a" * (least - 1)))
    assert list(violations("a" * (most + 1)))


def test_so_many_roles_in_a_namespace() -> None:
    assert limits()["Roles mapped to a user", "per namespace"] == (
        f"at most {ROLES_PER_NAMESPACE_MAX}"
    )


def test_the_types_of_filtering_rules() -> None:
    said = re.search(r"Filtering-rule `type` values: (.*)", read_specification())
    assert said is not None
    by_namespace = {
        namespace: tuple(re.findall(r"`(\w+)`", types))
        for namespace, types in re.findall(r"namespace `(\w+)`: ([^;.]*)", said[1])
    }

    assert by_namespace == {str(namespace): types for namespace, types in FILTER_TYPES.items()}
