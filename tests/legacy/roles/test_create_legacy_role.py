"""POST /v3/role"""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.http.routing import ROUTE_FORM_BYTES_MAX
from nimbill.legacy.roles.role_scope_rules import SCOPE_BYTES_MAX
from tests.legacy.roles.role_requests import (
    EVERYTHING,
    ROLE,
    assert_refused,
    build_document,
    build_statement,
    create_role,
    master_headers,
    post_role,
)
from tests.running_service import Service


def list_roles(service: Service) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.http.get(ROLE, headers=master_headers(service)).json()
    return found


def test_a_form_with_name_and_scope_creates_a_role(service: Service) -> None:
    response = post_role(service, EVERYTHING, "operators")

    assert response.status_code == 200
    assert list(response.json()) == ["status", "role_id"]
    assert response.json()["status"] == "success"
    (role,) = list_roles(service)
    assert list(role) == ["role_id", "user_id", "name", "scope", "create_time", "update_time"]
    assert role["role_id"] == response.json()["role_id"]
    assert role["user_id"] == service.organisation.root_user_id
    assert role["name"] == "operators"
    assert role["create_time"] == role["update_time"]


def test_json_and_multipart_are_accepted(service: Service) -> None:
    fields = {"name": "operators", "scope": EVERYTHING}
    parts = {name: (None, value) for name, value in fields.items()}

    as_json = service.http.post(ROLE, json=fields, headers=master_headers(service))
    as_parts = service.http.post(ROLE, files=parts, headers=master_headers(service))

    assert (as_json.status_code, as_parts.status_code) == (200, 200)
    assert [role["scope"] for role in list_roles(service)] == [EVERYTHING, EVERYTHING]


def test_the_scope_is_stored_as_sent(service: Service) -> None:
    scope = '{ "version" : "1",\n "Statement" : [ ] }'

    create_role(service, scope)

    assert [role["scope"] for role in list_roles(service)] == [scope]


def test_names_need_not_be_unique(service: Service) -> None:
    assert create_role(service, name="operators") != create_role(service, name="operators")


@pytest.mark.parametrize("missing", ["name", "scope"])
def test_name_and_scope_are_required(service: Service, missing: str) -> None:
    fields = {"name": "operators", "scope": EVERYTHING}
    del fields[missing]

    response = service.http.post(ROLE, data=fields, headers=master_headers(service))

    assert assert_refused(response, 400, "rule_broken") == [{"field": missing, "rule": "required"}]


@pytest.mark.parametrize("name", ["", "x" * 101])
def test_a_name_has_1_to_100_characters(service: Service, name: str) -> None:
    (violation,) = assert_refused(post_role(service, name=name), 400, "rule_broken")

    assert violation == {"field": "name", "rule": "length 1 to 100"}


@pytest.mark.parametrize(
    "scope",
    ["nonsense", "{", "NaN", '{"version": "1", "version": "2", "Statement": []}', "[" * 60_000],
    ids=lambda scope: scope[:20],
)
def test_a_scope_that_is_not_json_is_refused(service: Service, scope: str) -> None:
    violations = assert_refused(post_role(service, scope), 400, "rule_broken")

    assert violations == [{"field": "scope", "rule": "a role scope as JSON text"}]


def test_all_violations_of_a_scope_are_reported_together(service: Service) -> None:
    invalid = build_document(
        build_statement("Perhaps"), {"Effect": "Deny", "Action": [], "Resource": [1]}
    )

    violations = assert_refused(post_role(service, invalid), 400, "rule_broken")

    assert [violation["field"] for violation in violations] == [
        "scope.Statement[0].Effect",
        "scope.Statement[1].Action",
        "scope.Statement[1].Resource[0]",
    ]


def test_a_scope_has_at_most_64_kib(service: Service) -> None:
    def pad(size: int) -> str:
        return EVERYTHING + " " * (size - len(EVERYTHING))

    assert post_role(service, pad(SCOPE_BYTES_MAX)).status_code == 200
    (violation,) = assert_refused(post_role(service, pad(SCOPE_BYTES_MAX + 1)), 400, "rule_broken")
    assert violation == {"field": "scope", "rule": "at most 64 KiB"}


def test_the_size_is_counted_in_bytes(service: Service) -> None:
    scope = json.dumps({"version": "é" * 40, "Statement": []}, ensure_ascii=False)
    padded = scope + " " * (SCOPE_BYTES_MAX - len(scope))

    (violation,) = assert_refused(post_role(service, padded), 400, "rule_broken")

    assert violation["rule"] == "at most 64 KiB"


def test_a_refused_role_is_not_stored(service: Service) -> None:
    post_role(service, "nonsense")

    assert list_roles(service) == []


def test_other_content_types_are_refused(service: Service) -> None:
    headers = master_headers(service) | {"Content-Type": "text/plain"}

    response = service.http.post(ROLE, content=b"name=a&scope={}", headers=headers)

    assert assert_refused(response, 415, "media_type") == []


def test_a_form_has_at_most_256_kib(service: Service) -> None:
    assert_refused(post_role(service, name="x" * ROUTE_FORM_BYTES_MAX), 413, "body_too_large")


def test_a_creation_is_in_the_audit_log(service: Service) -> None:
    role_id = create_role(service)

    entry = service.http.get("/m/core/audit", headers=service.root()).json()[0]

    assert (entry["action"], entry["resource"]) == ("create_legacy_role", f"legacy_role/{role_id}")
