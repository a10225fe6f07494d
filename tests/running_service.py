"""The service as tests meet it: in this process, on a real PostgreSQL, through its own door."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import sqlalchemy as sa
from litestar import Litestar
from litestar.testing import TestClient
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access import effective_permissions, passwords
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import RoleAction
from nimbill.application.app import litestar_app, with_middleware
from nimbill.application.open_database import prepare
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.encryption import Encryptor, load_or_create_key
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings, read_settings
from nimbill.foundation.vocabulary import Product, UserKind
from nimbill.identity.organisations import operations
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import add_api_client
from nimbill.jobs import runner
from nimbill.legacy.audiences import LEGACY
from nimbill.legacy.provisioning import local

T = TypeVar("T")

PASSWORD = "correct horse 7"
NO_PASSWORD = "!"  # no hash, so no password opens it


@dataclass
class Service:
    http: TestClient[Litestar]
    app: Litestar
    settings: Settings
    database_url: str
    organisation: NewOrganisation = field(init=False)

    @property
    def resources(self) -> Resources:
        resources: Resources = self.app.state.resources
        return resources

    def run(self, do: Callable[[], Awaitable[T]]) -> T:
        """Run something in the event loop of the service."""
        return self.http.blocking_portal.call(do)

    def new_organisation(self, name: str = "Test") -> NewOrganisation:
        """Its root user's password is hashed as in earnest, but once for all organisations."""
        resources = self.resources
        with patch.object(operations, "hash_password", _hashed_once):
            return self.run(
                lambda: create_organisation(
                    resources.engine,
                    resources.encryptor,
                    name=name,
                    username="root",
                    password=PASSWORD,
                )
            )

    def root(
        self,
        organisation: NewOrganisation | None = None,
        product: Product = Product.core,
        *,
        agent: bool = False,
    ) -> dict[str, str]:
        """Headers of the root user; to version 3 it is the master account, or its client."""
        who = organisation or self.organisation
        whose = (who.organisation_id, who.root_user_id, who.client_id)
        return self._headers(*whose, product, agent)

    def caller(
        self,
        *role_actions: RoleAction,
        product: Product = Product.core,
        organisation: NewOrganisation | None = None,
        billing_groups: list[str] | None = None,
        agent: bool = False,
    ) -> dict[str, str]:
        """Headers of a new subuser that holds just these actions, narrowed to these groups."""
        who = organisation or self.organisation
        user_id, client_id = self.run(
            lambda: self._add_subuser(who, role_actions, product, billing_groups)
        )
        return self._headers(who.organisation_id, user_id, client_id, product, agent)

    async def _add_subuser(
        self,
        who: NewOrganisation,
        role_actions: tuple[RoleAction, ...],
        product: Product,
        billing_groups: list[str] | None,
    ) -> tuple[str, str]:
        scope, user_id = TenantScope(who.organisation_id), new_id("usr")
        async with transaction(self.resources.engine, who.organisation_id) as db:
            await users.add_user(
                db,
                scope,
                user_id=user_id,
                root_user=who.root_user_id,
                kind=UserKind.subuser,
                username=f"u{user_id[-12:]}",
                password_hash=NO_PASSWORD,
            )
            client = await add_api_client(db, scope, user_id=user_id, name="test")
            if product != LEGACY:  # whose users have scopes and no role actions
                await _add_role(db, who, user_id, role_actions, product)
            for company_id in billing_groups or []:
                await db.execute(
                    sa.insert(effective_permissions.role_filters).values(
                        organisation_id=who.organisation_id,
                        user_id=user_id,
                        namespace="core",
                        type="billingGroup",
                        resource=company_id,
                    )
                )
        return user_id, client.client_id

    def _headers(
        self, organisation_id: str, user_id: str, client_id: str, product: Product, agent: bool
    ) -> dict[str, str]:
        token, _ = self.resources.tokens.issue(
            product,
            organisation_id=organisation_id,
            user_id=user_id,
            client_id=client_id,
            epoch=1,
            # clients of version 3 reach what agents reach; users come with a password
            subject_type="user" if product == LEGACY and not agent else "client",
        )
        return {"Authorization": f"Bearer {token}"}


_hashes: dict[tuple[bytes, object], str] = {}


async def _hashed_once(password: str, encryptor: Encryptor) -> str:
    """By one pepper and one hasher, whichever tests have set."""
    which = (encryptor.derive_key(f"test {password}"), passwords._hasher)
    if which not in _hashes:
        _hashes[which] = await passwords.hash_password(password, encryptor)
    return _hashes[which]


async def _add_role(
    db: AsyncConnection,
    who: NewOrganisation,
    user_id: str,
    role_actions: tuple[RoleAction, ...],
    product: Product,
) -> None:
    mine = {
        "organisation_id": who.organisation_id,
        "root_user": who.root_user_id,
        "namespace": product,
    }
    role = f"role-{user_id[-12:]}"
    permissions = [action.value for action in role_actions]
    await db.execute(
        sa.insert(effective_permissions.roles).values(**mine, name=role, permissions=permissions)
    )
    await db.execute(
        sa.insert(effective_permissions.role_mappings).values(**mine, user_id=user_id, role=role)
    )


@contextmanager
def running_service(database_url: str, data: Path, **environment: str) -> Iterator[Service]:
    """A service with a first organisation in it; settings as in the environment."""
    settings = read_settings(
        {
            "NIMBILL_DATA": str(data),
            "NIMBILL_DATABASE_URL": database_url,
            "NIMBILL_RATE_LIMIT": "0",
            **environment,
        }
    )
    asyncio.run(prepare(database_url, load_or_create_key(settings.key_file)))
    app = litestar_app(settings)
    client = TestClient(
        with_middleware(app, settings),
        base_url="http://127.0.0.1:8080",
        raise_server_exceptions=False,
    )
    with (
        # No port is open, so simulated agents need not wait for a response.
        patch.object(local, "PATIENCE_SECONDS", 0.0),
        # Tests that wait for a job do not wait for the next poll.
        patch.object(runner, "POLL_SECONDS", 0.05),
        client as http,
    ):
        service = Service(http, app, settings, database_url)  # type: ignore[arg-type]
        service.organisation = service.new_organisation()
        yield service
