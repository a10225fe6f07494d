"""Bodies and limits of users, roles and tokens agree with the tables of the specification."""

import re
from typing import Any

import msgspec
import pytest

from nimbill.identity.login.bodies import TokenResponse
from nimbill.identity.rbac.bodies import PermissionListing
from nimbill.identity.rbac.role_rules import (
    FILTER_TYPES,
    ROLES_PER_NAMESPACE_MAX,
    find_role_name_violations,
)
from nimbill.identity.users.bodies import ApiClientRecord, SubuserCreate
from nimbill.identity.users.user_rules import find_password_violations, find_username_violations
from nimbill.legacy.login.bodies import LegacyTokenAnswer  # version 3
from tests.contract.specification import read_table

Body = type[msgspec.Struct]


def list_fields(body: Body, prefix: str = "") -> list[str]:
    """Field names as the specification writes them: `object.field` for an inner object."""
    names = []
    for field in msgspec.structs.fields(body):
        is_object = isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
        name = prefix + field.encode_name
        names += list_fields(field.type, f"{name}.") if is_object else [name]
    return names


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        ("Token response", TokenResponse),
        ("Legacy token response", LegacyTokenAnswer),  # version 3
        ("Permission listing item", PermissionListing),
        ("API client", ApiClientRecord),
        ("Subuser creation body", SubuserCreate),
    ],
)
def test_a_body_has_the_fields_of_its_table_in_order(heading: str, body: Body) -> None:
    assert list_fields(body) == [field for field, *_ in read_table(heading)]


def test_exactly_the_required_fields_of_a_subuser_are_required() -> None:
    specified = {
        field.partition(".")[0]: required == "Yes"
        for field, _, required, _ in read_table("Subuser creation body")
    }

    assert specified == {
        field.name: field.required for field in msgspec.structs.fields(SubuserCreate)
    }


def specified_limits() -> dict[tuple[str, str], str]:
    rows = read_table("Limits", "Limit")
    return {(limit, applies_to): value for limit, applies_to, value in rows}


@pytest.mark.parametrize(
    ("limit", "applies_to", "violations"),
    [
        ("Role name length", "create role (RBAC)", find_role_name_violations),
        ("username", "create subuser", find_username_violations),
        ("password", "create subuser", find_password_violations),
    ],
)
def test_lengths_are_the_specified_ones(limit: str, applies_to: str, violations: Any) -> None:
    length = re.match(r"(\d+) to (\d+) characters", specified_limits()[limit, applies_to])

    assert length is not None
    least, most = int(length[1]), int(length[2])
    assert not list(violations("a" * least))
    assert not list(violations("a" * most))
    assert list(violations("a" * (least - 1)))
    assert list(violations("a" * (most + 1)))


def test_the_number_of_roles_per_namespace_is_limited() -> None:
    assert specified_limits()["Roles mapped to a user", "per namespace"] == (
        f"at most {ROLES_PER_NAMESPACE_MAX}"
    )


def test_filter_types_are_the_specified_ones() -> None:
    specified = {
        namespace.strip("`"): tuple(re.findall(r"`(\w+)`", types))
        for namespace, types in read_table("Filtering rules", "Namespace")
    }

    assert specified == {str(namespace): types for namespace, types in FILTER_TYPES.items()}
