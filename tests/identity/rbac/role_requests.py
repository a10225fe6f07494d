"""Create, change and list roles and mappings through the API."""

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

# a valid body
ROLE: dict[str, Any] = {
    "name": "accounting",
    "namespace": "core",
    "permissions": ["ReadInvoice", "ReadBillingGroup"],
}


def build_role_body(**changes: Any) -> dict[str, Any]:
    """Return the valid body with these changes; `...` removes a field."""
    return {name: value for name, value in (ROLE | changes).items() if value is not ...}


def post_role(
    service: Service, headers: dict[str, str] | None = None, **changes: Any
) -> httpx.Response:
    body = build_role_body(**changes)
    return service.http.post(ROLES, json=body, headers=headers or service.root())


def add_role(
    service: Service,
    name: str = "accounting",
    permissions: Sequence[str] = ("ReadInvoice",),
    namespace: str = "core",
) -> str:
    """Create a role as the root user and return its name."""
    response = post_role(service, name=name, namespace=namespace, permissions=list(permissions))
    assert response.status_code == 200, response.text
    return name


def insert_roles(service: Service, names: Sequence[str], permissions: Sequence[str]) -> None:
    """Store roles in both namespaces without requests."""
    organisation = service.organisation
    rows = [
        {
            "organisation_id": organisation.organisation_id,
            "root_user": organisation.root_user_id,
            "namespace": namespace,
            "name": name,
            "permissions": list(permissions),
        }
        for name in names
        for namespace in ("core", "portal")
    ]

    async def insert() -> None:
        async with transaction(service.resources.engine, organisation.organisation_id) as db:
            await db.execute(sa.insert(effective_permissions.roles), rows)

    service.run(insert)


def list_roles(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    response = service.http.get(ROLES, headers=headers or service.root())
    assert response.status_code == 200, response.text
    roles: list[dict[str, Any]] = response.json()
    return roles


def patch_role(
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


def role_refs(*names: str, namespace: str = "core") -> list[dict[str, str]]:
    """Return references to roles of one namespace, as bodies of mappings contain them."""
    return [{"namespace": namespace, "role": name} for name in names]


def build_filter(*resources: str, namespace: str = "core", type_: str = "billingGroup") -> Any:
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
    user_id: str,
    roles: list[dict[str, str]],
    filters: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    body: dict[str, Any] = {"roles": roles}
    if filters is not None:
        body["filters"] = filters
    return service.http.patch(
        f"{RBAC}/{user_id}/userroles", json=body, headers=headers or service.root()
    )


def list_mappings(
    service: Service, username: str, headers: dict[str, str] | None = None
) -> list[tuple[str, str]]:
    """Return namespace and role, or namespace and filter, of every mapping."""
    response = service.http.get(f"{RBAC}/{username}/userroles", headers=headers or service.root())
    assert response.status_code == 200, response.text
    return [
        (mapping["namespace"], mapping.get("role") or mapping["filter"])
        for mapping in response.json()
    ]


def list_permissions(
    service: Service, username: str, headers: dict[str, str] | None = None
) -> dict[str, list[str]]:
    """Return the permissions by namespace."""
    response = service.http.get(f"{RBAC}/{username}/permissions", headers=headers or service.root())
    assert response.status_code == 200, response.text
    return {item["namespace"]: item["permissions"] for item in response.json()}
