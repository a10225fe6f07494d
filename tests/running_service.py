"""A service in the test process, on a real PostgreSQL, with all middleware."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from litestar import Litestar
from litestar.testing import TestClient
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access import effective_permissions, passwords
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import RoleAction
from nimbill.application.app import add_middleware, create_litestar_app
from nimbill.application.open_database import prepare_database
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.encryption import Encryptor, load_or_create_key
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.settings import Settings, read_settings
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations import operations
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import add_api_client
from nimbill.legacy.provisioning import local_provisioner  # version 3
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.job_polling import prompt_job_loops

T = TypeVar("T")

PASSWORD = "correct horse 7"
NO_PASSWORD = "!"  # not a hash, so every password is refused


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

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Run something in the event loop of the service."""
        return self.http.blocking_portal.call(call)

    def new_organisation(self, name: str = "Test", username: str = "root") -> NewOrganisation:
        """Create an organisation without maintenance jobs, because few tests need them.

        The root password is hashed once for all organisations.
        """
        resources = self.resources
        with (
            patch.object(operations, "hash_password", _hash_once),
            patch.object(operations, "schedule_maintenance", _schedule_nothing),
        ):
            return self.run(
                lambda: create_organisation(
                    resources.engine,
                    resources.encryptor,
                    name=name,
                    username=username,
                    password=PASSWORD,
                )
            )

    def read_metrics(self) -> str:
        """The metrics of this moment, not those that are kept for some seconds."""
        self.app.state.service_metrics._rendered_at = float("-inf")
        response = self.http.get("/metrics")
        assert response.status_code == 200
        return response.text

    def root(
        self,
        organisation: NewOrganisation | None = None,
        product: Product = Product.core,
        *,
        agent: bool = False,
    ) -> dict[str, str]:
        """Return headers of the root user; in version 3 of the master account, or of its client."""
        tenant = organisation or self.organisation
        ids = (tenant.organisation_id, tenant.root_user_id, tenant.client_id)
        return self._headers(*ids, product, agent)

    def caller(
        self,
        *role_actions: RoleAction,
        product: Product = Product.core,
        organisation: NewOrganisation | None = None,
        billing_groups: list[str] | None = None,
        agent: bool = False,
    ) -> dict[str, str]:
        """Return headers of a new subuser with these actions, restricted to these groups."""
        tenant = organisation or self.organisation
        user_id, client_id = self.run(
            lambda: self._add_subuser(tenant, role_actions, product, billing_groups)
        )
        return self._headers(tenant.organisation_id, user_id, client_id, product, agent)

    async def _add_subuser(
        self,
        tenant: NewOrganisation,
        role_actions: tuple[RoleAction, ...],
        product: Product,
        billing_groups: list[str] | None,
    ) -> tuple[str, str]:
        scope, user_id = TenantScope(tenant.organisation_id), new_id("usr")
        async with transaction(self.resources.engine, tenant.organisation_id) as db:
            await users.add_user(
                db,
                scope,
                user_id=user_id,
                root_user=tenant.root_user_id,
                kind=UserKind.subuser,
                username=f"u{user_id[-12:]}",
                password_hash=NO_PASSWORD,
            )
            client = await add_api_client(db, scope, user_id=user_id, name="test")
            if product in (Product.core, Product.portal):  # others have no role actions
                await _add_role(db, tenant, user_id, role_actions, product)
            for company_id in billing_groups or []:
                await db.execute(
                    sa.insert(effective_permissions.role_filters).values(
                        organisation_id=tenant.organisation_id,
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
        subject_type = "client"
        if product == LEGACY and not agent:  # version 3
            # a client has the access of an agent, and users log in with a password
            subject_type = "user"
        token, _ = self.resources.tokens.issue(
            product,
            organisation_id=organisation_id,
            user_id=user_id,
            client_id=client_id,
            epoch=1,
            subject_type=subject_type,
        )
        return {"Authorization": f"Bearer {token}"}


async def _schedule_nothing(_db: AsyncConnection, _scope: TenantScope) -> None:
    """Creating a mock for each organisation would take twice as long."""


_hashes: dict[tuple[bytes, object], str] = {}


async def _hash_once(password: str, encryptor: Encryptor) -> str:
    """Cache by pepper and hasher, because tests replace both."""
    cache_key = (encryptor.derive_key(f"test {password}"), passwords._hasher)
    if cache_key not in _hashes:
        _hashes[cache_key] = await passwords.hash_password(password, encryptor)
    return _hashes[cache_key]


async def _add_role(
    db: AsyncConnection,
    tenant: NewOrganisation,
    user_id: str,
    role_actions: tuple[RoleAction, ...],
    product: Product,
) -> None:
    role_columns = {
        "organisation_id": tenant.organisation_id,
        "root_user": tenant.root_user_id,
        "namespace": product,
    }
    role = f"role-{user_id[-12:]}"
    permissions = [action.value for action in role_actions]
    await db.execute(
        sa.insert(effective_permissions.roles).values(
            **role_columns, name=role, permissions=permissions
        )
    )
    await db.execute(
        sa.insert(effective_permissions.role_mappings).values(
            **role_columns, user_id=user_id, role=role
        )
    )


@contextmanager
def running_service(database_url: str, data: Path, **environment: str) -> Iterator[Service]:
    """Run a service with one organisation; settings are given as environment variables."""
    settings = read_settings(
        {
            "NIMBILL_DATA": str(data),
            "NIMBILL_DATABASE_URL": database_url,
            "NIMBILL_RATE_LIMIT": "0",
            **environment,
        }
    )
    asyncio.run(prepare_database(database_url, load_or_create_key(settings.key_file)))
    app = create_litestar_app(settings)
    client = TestClient(
        add_middleware(app, settings),
        base_url="http://127.0.0.1:8080",
        raise_server_exceptions=False,
        backend_options={"use_uvloop": True},  # as the server does
    )
    with (
        # No port is open, so simulated agents need not wait for a response.  # version 3
        patch.object(local_provisioner, "TIMEOUT_SECONDS", 0.0),  # version 3
        prompt_job_loops(),
        client as http,
    ):
        service = Service(http, app, settings, database_url)  # type: ignore[arg-type]
        service.organisation = service.new_organisation()
        yield service


@pytest.fixture(autouse=True)
def clear_cookies(request: pytest.FixtureRequest) -> Iterator[None]:
    """Import this fixture into a conftest to start every test of the folder without cookies.

    A test that needs no service does not start one for this.
    """
    if "running" not in request.fixturenames:
        yield
        return
    running: Service = request.getfixturevalue("running")
    running.http.cookies.clear()
    yield
    running.http.cookies.clear()
