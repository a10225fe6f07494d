"""Attempts at operations of version 3 that only the root user may perform, by other callers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nimbill.foundation.product import Product
from nimbill.legacy.token_product import LEGACY
from tests.legacy.agents import agent_headers, create_agent
from tests.legacy.roles.role_requests import (
    EVERYTHING,
    ROLE,
    USER_ROLE,
    LegacyUser,
    attach_role,
    build_document,
    build_statement,
    client_headers,
    create_role,
    create_subuser,
)
from tests.running_service import Service

Call = tuple[str, str, str, dict[str, Any]]  # description, method, path, what is sent


def list_escalation_attempts(service: Service) -> tuple[dict[str, dict[str, str]], list[Call]]:
    """Headers by kind of caller, and what each of them tries; nothing may succeed."""
    allowed, denied = create_subuser(service), create_subuser(service)
    everything, nothing = (
        create_role(service),
        create_role(service, build_document(build_statement("Deny"))),
    )
    every_role_action = create_role(
        service,
        build_document(build_statement(action=["role:*", "userrole:*"], resource=["mrn:*", "*"])),
    )
    for person, role_id in ((allowed, everything), (allowed, every_role_action), (denied, nothing)):
        assert attach_role(service, person.username, role_id).status_code == 200
    headers = {
        "a user whose scope allows everything": allowed.headers,
        "a user whose scope denies everything": denied.headers,
        "a user without a role": create_subuser(service).headers,
        "an API client of the root user": client_headers(service),
        "an API client of a user": service.caller(product=LEGACY, agent=True),
        "the agent of a stack": agent_headers(service, create_agent(service)),
        "the root user with a core token": service.root(),
        "the root user with a portal token": service.root(product=Product.portal),
    }
    return headers, list(_attempts(allowed, denied, everything, nothing))


def _attempts(
    allowed: LegacyUser, denied: LegacyUser, everything: str, nothing: str
) -> Iterator[Call]:
    form = {"data": {"name": "mine", "scope": EVERYTHING}}
    yield "creates a role", "POST", ROLE, form
    yield "creates a role as JSON", "POST", ROLE, {"json": form["data"]}
    for what, role_id in (("its own", everything), ("another user's", nothing)):
        yield f"changes {what} role", "PUT", f"{ROLE}/{role_id}", form
        yield f"deletes {what} role", "DELETE", f"{ROLE}/{role_id}", {}
    yield "lists the roles", "GET", ROLE, {}
    for person in (allowed, denied):
        name = person.username
        yield "lists roles of a user", "GET", f"/v3/user/{name}/role", {}
        yield (
            "attaches a role",
            "POST",
            USER_ROLE,
            {"data": {"username": name, "role_id": everything}},
        )
        yield (
            "replaces other roles by one",
            "PUT",
            f"{USER_ROLE}/{everything}",
            {"data": {"username": name}},
        )
        for role_id in (nothing, everything):
            path = f"{USER_ROLE}/{role_id}?username={name}"
            yield "removes a role from a user", "DELETE", path, {}
        for place in ("data", "json"):
            sent = {place: {"username": name}}
            yield "removes a role by a body", "DELETE", f"{USER_ROLE}/{everything}", sent
