"""Who acts in tests of roles, and the requests they make."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from nimbill.legacy.audiences import LEGACY
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
    listed = [one if isinstance(one, str) else list(one) for one in (action, resource)]
    return {"Effect": effect, "Action": listed[0], "Resource": listed[1]}


def build_document(*statements: dict[str, Any]) -> str:
    return json.dumps({"version": "2026-11-15", "Statement": list(statements)})


EVERYTHING = build_document(build_statement())


@dataclass(frozen=True)
class LegacyUser:
    user_id: str
    username: str
    headers: dict[str, str]


def create_subuser(service: Service) -> LegacyUser:
    """Logged in to version 3 with a password."""
    headers = service.caller(product=LEGACY)
    user_id = decode_claims(headers["Authorization"].removeprefix("Bearer "))["sub"]
    return LegacyUser(user_id, f"u{user_id[-12:]}", headers)


def master_headers(service: Service) -> dict[str, str]:
    return service.root(product=LEGACY)


def client_headers(service: Service) -> dict[str, str]:
    """The root user's API client, by client_credentials: an agent to version 3."""
    who = service.organisation
    token, _ = service.resources.tokens.issue(
        LEGACY,
        organisation_id=who.organisation_id,
        user_id=who.root_user_id,
        client_id=who.client_id,
        epoch=1,
        subject_type="client",
    )
    return bearer_headers(token)


def post_role(service: Service, scope: str = EVERYTHING, name: str = "operators") -> HttpResponse:
    return service.http.post(
        ROLE, data={"name": name, "scope": scope}, headers=master_headers(service)
    )


def create_role(service: Service, scope: str = EVERYTHING, name: str = "operators") -> str:
    answer = post_role(service, scope, name)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["role_id"])


def attach_role(service: Service, username: str, role_id: str) -> HttpResponse:
    return service.http.post(
        USER_ROLE, data={"username": username, "role_id": role_id}, headers=master_headers(service)
    )


def grant_scope(service: Service, person: LegacyUser, *statements: dict[str, Any]) -> str:
    """A role of its own with this scope; answers its id."""
    role_id = create_role(service, build_document(*statements))
    answer = attach_role(service, person.username, role_id)
    assert answer.status_code == 200, answer.text
    return role_id


def list_roles_of(service: Service, username: str) -> list[dict[str, Any]]:
    answer = service.http.get(f"/v3/user/{username}/role", headers=master_headers(service))
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def list_own_roles(service: Service, person: LegacyUser) -> list[dict[str, Any]]:
    answer = service.http.get(USER_ROLE, headers=person.headers)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def assert_refused(answer: HttpResponse, status: int, code: str) -> list[dict[str, str]]:
    """Its violations, where it has any."""
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    broken: list[dict[str, str]] = answer.json().get("violations", [])
    return broken
