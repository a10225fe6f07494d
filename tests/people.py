"""People of an organisation: subusers with roles and filters of their own, and their tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import TypeVar

import sqlalchemy as sa

from nimbill.access import effective_permissions
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import Product, UserKind
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import add_api_client
from tests.running_service import NO_PASSWORD, Service

T = TypeVar("T")

Filter = tuple[str, str, str]  # namespace, type, resource


@dataclass(frozen=True)
class Person:
    """A subuser and the headers of its tokens, one for each product."""

    user_id: str
    username: str
    client_id: str
    core: dict[str, str]
    portal: dict[str, str]

    def headers(self, product: Product) -> dict[str, str]:
        return {Product.core: self.core, Product.portal: self.portal}[product]


def new_person(
    service: Service,
    core: Sequence[str] | None = None,
    portal: Sequence[str] | None = None,
    filters: Sequence[Filter] = (),
    *,
    organisation: NewOrganisation | None = None,
    username: str | None = None,
) -> Person:
    """Holds these permissions, a role for each namespace that is given, within these filters."""
    who = organisation or service.organisation
    user_id = new_id("usr")
    name = username or f"u{user_id[-12:]}"
    given = {Product.core: core, Product.portal: portal}

    async def add() -> str:
        mine = {"organisation_id": who.organisation_id, "root_user": who.root_user_id}
        scope = TenantScope(who.organisation_id)
        async with transaction(service.resources.engine, who.organisation_id) as db:
            await users.add_user(
                db,
                scope,
                user_id=user_id,
                root_user=who.root_user_id,
                kind=UserKind.subuser,
                username=name,
                password_hash=NO_PASSWORD,
            )
            client = await add_api_client(db, scope, user_id=user_id, name="test")
            for namespace, permissions in given.items():
                if permissions is None:
                    continue
                role = {**mine, "namespace": namespace}
                role_name = f"role-{user_id[-12:]}"
                stored = [str(one) for one in permissions]
                insert = sa.insert(effective_permissions.roles)
                await db.execute(insert.values(**role, name=role_name, permissions=stored))
                mapping = sa.insert(effective_permissions.role_mappings)
                await db.execute(mapping.values(**role, role=role_name, user_id=user_id))
            for namespace_, type_, resource in filters:
                rule = sa.insert(effective_permissions.role_filters).values(
                    organisation_id=who.organisation_id,
                    user_id=user_id,
                    namespace=namespace_,
                    type=type_,
                    resource=resource,
                )
                await db.execute(rule)
        return client.client_id

    client_id = service.run(add)
    core_token, portal_token = (
        token_for(service, product, user_id, client_id, organisation=who)
        for product in (Product.core, Product.portal)
    )
    return Person(user_id, name, client_id, core_token, portal_token)


def token_for(
    service: Service,
    product: Product,
    user_id: str,
    client_id: str,
    *,
    organisation: NewOrganisation | None = None,
) -> dict[str, str]:
    """Headers with a token as the client of a user would get it."""
    who = organisation or service.organisation
    token, _ = service.resources.tokens.issue(
        product,
        organisation_id=who.organisation_id,
        user_id=user_id,
        client_id=client_id,
        epoch=1,
        subject_type="client",
    )
    return {"Authorization": f"Bearer {token}"}


def all_at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Every call in a thread of its own, none before all are ready."""
    ready = Barrier(len(calls))

    def go(call: Callable[[], T]) -> T:
        ready.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(go, calls))
