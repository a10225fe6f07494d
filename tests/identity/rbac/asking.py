"""Roles and mappings as callers ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import sqlalchemy as sa

from nimbill.access import effective_permissions
from nimbill.database.tenant_scope import transaction
from tests.running_service import Service

RBAC = "/m/auth/rbac"
ROLES = f"{RBAC}/roles"
MAPPINGS = f"{RBAC}/userroles"

ROLE: dict[str, Any] = {
    "name": "accounting",
    "namespace": "core",
    "permissions": ["ReadInvoice", "ReadBillingGroup"],
}


def create_role(
    service: Service, headers: dict[str, str] | None = None, **changes: Any
) -> httpx.Response:
    """Ask for a role that differs from the sound one in these fields; absent where `...`."""
    body = {name: value for name, value in (ROLE | changes).items() if value is not ...}
    return service.http.post(ROLES, json=body, headers=headers or service.root())


def new_role(
    service: Service,
    name: str = "accounting",
    permissions: Sequence[str] = ("ReadInvoice",),
    namespace: str = "core",
) -> str:
    """Made by the root user."""
    answer = create_role(service, name=name, namespace=namespace, permissions=list(permissions))
    assert answer.status_code == 200, answer.text
    return name


def have_roles(service: Service, names: Sequence[str], permissions: Sequence[str]) -> None:
    """Stored without a request, in both namespaces."""
    who = service.organisation
    rows = [
        {
            "organisation_id": who.organisation_id,
            "root_user": who.root_user_id,
            "namespace": namespace,
            "name": name,
            "permissions": list(permissions),
        }
        for name in names
        for namespace in ("core", "portal")
    ]

    async def add() -> None:
        async with transaction(service.resources.engine, who.organisation_id) as db:
            await db.execute(sa.insert(effective_permissions.roles), rows)

    service.run(add)


def roles_of(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    answer = service.http.get(ROLES, headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    roles: list[dict[str, Any]] = answer.json()
    return roles


def update_role(
    service: Service,
    role: str = "accounting",
    headers: dict[str, str] | None = None,
    namespace: str = "core",
    **body: Any,
) -> httpx.Response:
    return service.http.patch(
        f"{ROLES}/{namespace}/{role}", json=body, headers=headers or service.root()
    )


def delete_role(
    service: Service,
    role: str = "accounting",
    headers: dict[str, str] | None = None,
    namespace: str = "core",
) -> httpx.Response:
    return service.http.delete(f"{ROLES}/{namespace}/{role}", headers=headers or service.root())


def named(*names: str, namespace: str = "core") -> list[dict[str, str]]:
    """References to roles of one namespace."""
    return [{"namespace": namespace, "role": name} for name in names]


def filtering(*resources: str, namespace: str = "core", type_: str = "billingGroup") -> Any:
    return {"namespace": namespace, "type": type_, "resource": list(resources)}


def map_roles(
    service: Service,
    user_id: str,
    roles: list[dict[str, str]],
    filters: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    body: dict[str, Any] = {"user_id": user_id, "roles": roles}
    if filters is not None:
        body["filters"] = filters
    return service.http.post(MAPPINGS, json=body, headers=headers or service.root())


def replace_mappings(
    service: Service,
    subuser: str,
    roles: list[dict[str, str]],
    filters: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    body: dict[str, Any] = {"roles": roles}
    if filters is not None:
        body["filters"] = filters
    return service.http.patch(
        f"{RBAC}/{subuser}/userroles", json=body, headers=headers or service.root()
    )


def mappings_of(
    service: Service, subuser: str, headers: dict[str, str] | None = None
) -> list[tuple[str, str]]:
    """Namespace and role, or namespace and filter, one by one."""
    answer = service.http.get(f"{RBAC}/{subuser}/userroles", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    return [(one["namespace"], one.get("role") or one["filter"]) for one in answer.json()]


def permissions_of(
    service: Service, subuser: str, headers: dict[str, str] | None = None
) -> dict[str, list[str]]:
    answer = service.http.get(f"{RBAC}/{subuser}/permissions", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    return {one["namespace"]: one["permissions"] for one in answer.json()}
