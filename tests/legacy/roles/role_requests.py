"""Callers of version 3, and requests for roles."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from nimbill.legacy.token_product import LEGACY
from tests.identity.login.token_requests import bearer_headers, decode_claims
from tests.problem_responses import HttpResponse
from tests.running_service import Service

ROLE, USER_ROLE, TEMPLATES = "/v3/role", "/v3/user/role", "/v3/role/templates"

ACTIONS = (
    "stack:describeStacks",
    "stack:describeStack",
    "stack:deleteStack",
    "template:createAlmTemplate",
    "template:updateAlmTemplate",
    "template:compareTemplate",
    "template:describeTemplate",
    "container:describeContainers",
)


def build_statement(
    effect: str = "Allow", action: Any = ("*",), resource: Any = ("*",)
) -> dict[str, Any]:
    def to_json(patterns: Any) -> Any:
        return patterns if isinstance(patterns, str) else list(patterns)

    return {"Effect": effect, "Action": to_json(action), "Resource": to_json(resource)}


def build_document(*statements: dict[str, Any]) -> str:
    return json.dumps({"version": "2026-11-15", "Statement": list(statements)})


EVERYTHING = build_document(build_statement())


@dataclass(frozen=True)
class LegacyUser:
    user_id: str
    username: str
    headers: dict[str, str]


def create_subuser(service: Service) -> LegacyUser:
    """Create a subuser who is logged in to version 3 with a password."""
    headers = service.caller(product=LEGACY)
    user_id = decode_claims(headers["Authorization"].removeprefix("Bearer "))["sub"]
    return LegacyUser(user_id, f"u{user_id[-12:]}", headers)


def master_headers(service: Service) -> dict[str, str]:
    return service.root(product=LEGACY)


def client_headers(service: Service) -> dict[str, str]:
    """Headers of the root user's API client, which version 3 treats like an agent."""
    organisation = service.organisation
    token, _ = service.resources.tokens.issue(
        LEGACY,
        organisation_id=organisation.organisation_id,
        user_id=organisation.root_user_id,
        client_id=organisation.client_id,
        epoch=1,
        subject_type="client",
    )
    return bearer_headers(token)


def post_role(service: Service, scope: str = EVERYTHING, name: str = "operators") -> HttpResponse:
    return service.http.post(
        ROLE, data={"name": name, "scope": scope}, headers=master_headers(service)
    )


def create_role(service: Service, scope: str = EVERYTHING, name: str = "operators") -> str:
    response = post_role(service, scope, name)
    assert response.status_code == 200, response.text
    return str(response.json()["role_id"])


def attach_role(service: Service, username: str, role_id: str) -> HttpResponse:
    return service.http.post(
        USER_ROLE, data={"username": username, "role_id": role_id}, headers=master_headers(service)
    )


def grant_scope(service: Service, person: LegacyUser, *statements: dict[str, Any]) -> str:
    """Create a role with this scope and attach it; return its id."""
    role_id = create_role(service, build_document(*statements))
    response = attach_role(service, person.username, role_id)
    assert response.status_code == 200, response.text
    return role_id


def list_roles_of(service: Service, username: str) -> list[dict[str, Any]]:
    response = service.http.get(f"/v3/user/{username}/role", headers=master_headers(service))
    assert response.status_code == 200, response.text
    roles: list[dict[str, Any]] = response.json()
    return roles


def list_own_roles(service: Service, person: LegacyUser) -> list[dict[str, Any]]:
    response = service.http.get(USER_ROLE, headers=person.headers)
    assert response.status_code == 200, response.text
    roles: list[dict[str, Any]] = response.json()
    return roles


def assert_refused(response: HttpResponse, status: int, code: str) -> list[dict[str, str]]:
    """Check the error and return its violations."""
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    violations: list[dict[str, str]] = response.json().get("violations", [])
    return violations
