"""Subusers with their own roles, filters and tokens, and concurrent calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access import effective_permissions
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import add_api_client
from tests.running_service import NO_PASSWORD, Service

T = TypeVar("T")

Filter = tuple[str, str, str]  # namespace, type, resource


@dataclass(frozen=True)
class SubuserAccount:
    """A subuser and the authorization headers for each product."""

    user_id: str
    username: str
    client_id: str
    core: dict[str, str]
    portal: dict[str, str]

    def headers(self, product: Product) -> dict[str, str]:
        return {Product.core: self.core, Product.portal: self.portal}[product]


def create_subuser(
    service: Service,
    core: Sequence[str] | None = None,
    portal: Sequence[str] | None = None,
    filters: Sequence[Filter] = (),
    *,
    organisation: NewOrganisation | None = None,
    username: str | None = None,
    role: str | None = None,
) -> SubuserAccount:
    """Create a subuser with one role per namespace given, restricted by these filters."""
    tenant = organisation or service.organisation
    user_id = new_id("usr")
    name = username or f"u{user_id[-12:]}"
    permissions_by_product = {Product.core: core, Product.portal: portal}

    async def add() -> str:
        scope = TenantScope(tenant.organisation_id)
        async with transaction(service.resources.engine, tenant.organisation_id) as db:
            await users.add_user(
                db,
                scope,
                user_id=user_id,
                root_user=tenant.root_user_id,
                kind=UserKind.subuser,
                username=name,
                password_hash=NO_PASSWORD,
            )
            client = await add_api_client(db, scope, user_id=user_id, name="test")
            for product, permissions in permissions_by_product.items():
                if permissions is not None:
                    await _add_role(db, tenant, user_id, product, permissions, role)
            await _add_filters(db, tenant, user_id, filters)
        return client.client_id

    client_id = service.run(add)
    core_token, portal_token = (
        issue_token_headers(service, product, user_id, client_id, organisation=tenant)
        for product in (Product.core, Product.portal)
    )
    return SubuserAccount(user_id, name, client_id, core_token, portal_token)


async def _add_role(
    db: AsyncConnection,
    tenant: NewOrganisation,
    user_id: str,
    namespace: str,
    permissions: Sequence[str],
    name: str | None,
) -> None:
    """Create a role with these permissions and map it to the user."""
    columns = {
        "organisation_id": tenant.organisation_id,
        "root_user": tenant.root_user_id,
        "namespace": namespace,
    }
    name = name or f"role-{user_id[-12:]}"
    role_actions = [str(permission) for permission in permissions]
    role = sa.insert(effective_permissions.roles)
    await db.execute(role.values(**columns, name=name, permissions=role_actions))
    mapping = sa.insert(effective_permissions.role_mappings)
    await db.execute(mapping.values(**columns, role=name, user_id=user_id))


async def _add_filters(
    db: AsyncConnection, tenant: NewOrganisation, user_id: str, filters: Sequence[Filter]
) -> None:
    for namespace, type_, resource in filters:
        stmt = sa.insert(effective_permissions.role_filters).values(
            organisation_id=tenant.organisation_id,
            user_id=user_id,
            namespace=namespace,
            type=type_,
            resource=resource,
        )
        await db.execute(stmt)


def issue_token_headers(
    service: Service,
    product: Product,
    user_id: str,
    client_id: str,
    *,
    organisation: NewOrganisation | None = None,
) -> dict[str, str]:
    """Return authorization headers with a token of the user's API client."""
    tenant = organisation or service.organisation
    token, _ = service.resources.tokens.issue(
        product,
        organisation_id=tenant.organisation_id,
        user_id=user_id,
        client_id=client_id,
        epoch=1,
        subject_type="client",
    )
    return {"Authorization": f"Bearer {token}"}


def run_concurrently(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Run each call in its own thread; all start together."""
    ready = Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        ready.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))
