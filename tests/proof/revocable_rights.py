"""People, API clients and agents with a token, each with a request that the token opens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access import effective_permissions
from nimbill.access.role_actions import RoleAction
from nimbill.customers.resellers import records as resellers
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock, exact_json  # version 3
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import add_api_client
from nimbill.legacy.stacks import records as stacks  # version 3
from nimbill.legacy.templates import records as templates  # version 3
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.legacy.agents import AgentLogin, agent_headers, create_agent  # version 3
from tests.legacy.roles.role_requests import (  # version 3
    attach_role,
    build_document,
    build_statement,
    create_role,
)
from tests.legacy.templates.template_requests import build_template  # version 3
from tests.portal.portal_customer import ALL_FLAGS
from tests.portal.staff_views.view_requests import begin_view, view_headers
from tests.running_service import NO_PASSWORD, PASSWORD, Service
from tests.subusers import create_subuser, issue_token_headers

GROUPS, ACCOUNTS, BUDGETS = "/m/core/billinggroup", "/m/portal/accounts", "/m/portal/budgets"
STACKS, AGENT_STATUS = "/v3/alm/stack", "/v3/alm/agent/agent_status"  # version 3

Add = Callable[..., Awaitable[str]]


@dataclass(frozen=True)
class Right:
    """Somebody's token, a request that it opens, and what the one who ends it needs."""

    path: str
    headers: Mapping[str, str]
    owner: Mapping[str, str]  # headers of the one who may end the right
    namespace: str = "core"
    user_id: str = ""
    client_id: str = ""
    role: str = ""  # name, in version 3 id
    username: str = ""
    customer_id: str = ""  # user_id of the customer's account
    view_id: str = ""
    form: Mapping[str, str] | None = None  # sent by POST; otherwise the request is a GET
    accepted: int = 200


@dataclass
class RightsMaker:
    """Creates rights in the organisation of the service, directly in its database."""

    service: Service
    lock: Lock = field(default_factory=Lock)  # the test client serves one thread at a time
    company_id: str = field(init=False)
    # a user without any role may do everything  # version 3
    other_role: str = field(init=False)  # version 3

    def __post_init__(self) -> None:
        root = self.service.root()
        self.company_id = create_billing_group(self.service, root, billinggroup_id="T3")
        document = build_document(  # version 3
            build_statement(action=["container:describeContainers"])
        )
        self.other_role = create_role(self.service, document)  # version 3

    # ── core ─────────────────────────────────────────────────────────────────────────────────────

    def core_client(self) -> Right:
        person = create_subuser(self.service, core=[RoleAction.ReadBillingGroup])
        return Right(
            path=GROUPS,
            headers=person.core,
            owner=self.service.root(),
            user_id=person.user_id,
            client_id=person.client_id,
            role=f"role-{person.user_id[-12:]}",
        )

    def core_session(self) -> Right:
        """A session of its own root user, so that no other trial signs it out."""
        with self.lock:
            organisation = self.service.new_organisation("T3 session")
        headers = self._sign_in("/core/session", organisation.organisation_id, "root")
        return Right(path=GROUPS, headers=headers, owner=headers)

    def _sign_in(self, path: str, organisation_id: str, username: str) -> dict[str, str]:
        body = {"organisation": organisation_id, "username": username, "password": PASSWORD}
        with self.lock:
            answer = self.service.http.post(path, json=body)
            self.service.http.cookies.clear()
        assert answer.status_code == 200, answer.text
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}

    # ── portal ───────────────────────────────────────────────────────────────────────────────────

    def staff_in_portal(self) -> Right:
        """A subuser of the organisation with a portal role."""
        person = create_subuser(self.service, portal=[RoleAction.ReadAccount])
        return Right(
            path=ACCOUNTS,
            headers=person.portal,
            owner=self.service.root(product=Product.portal),
            namespace="portal",
            user_id=person.user_id,
            client_id=person.client_id,
            role=f"role-{person.user_id[-12:]}",
        )

    def customer(self) -> Right:
        user_id = new_id("usr")
        client_id = self._run(self._add_customer, user_id)
        headers = issue_token_headers(self.service, Product.portal, user_id, client_id)
        return Right(
            path=BUDGETS,
            headers=headers,
            owner=self.service.root(),
            namespace="portal",
            user_id=user_id,
            client_id=client_id,
            customer_id=user_id,
        )

    async def _add_customer(self, db: AsyncConnection, scope: TenantScope, user_id: str) -> str:
        root = await users.find_user_by_name(db, scope, "root")
        assert root is not None
        await users.add_user(
            db,
            scope,
            user_id=user_id,
            root_user=user_id,
            kind=UserKind.reseller,
            username=f"{user_id[-12:]}@example.com",
            password_hash=root.password_hash,
        )
        await resellers.add_reseller(db, scope, user_id, self.company_id, ALL_FLAGS)
        return (await add_api_client(db, scope, user_id=user_id, name="T3")).client_id

    def customer_session(self) -> Right:
        customer = self.customer()
        organisation_id = self.service.organisation.organisation_id
        username = f"{customer.user_id[-12:]}@example.com"
        headers = self._sign_in("/portal/session", organisation_id, username)
        return replace(customer, headers=headers, owner=headers)

    def customers_user(self) -> Right:
        """A subuser of a customer; the customer may end its rights."""
        customer, user_id = self.customer(), new_id("usr")
        client_id = self._run(self._add_customers_user, user_id, customer.user_id)
        return replace(
            customer,
            headers=issue_token_headers(self.service, Product.portal, user_id, client_id),
            owner=customer.headers,
            user_id=user_id,
            client_id=client_id,
            role=f"role-{user_id[-12:]}",
        )

    async def _add_customers_user(
        self, db: AsyncConnection, scope: TenantScope, user_id: str, customer_id: str
    ) -> str:
        await users.add_user(
            db,
            scope,
            user_id=user_id,
            root_user=customer_id,
            kind=UserKind.reseller_subuser,
            username=f"u{user_id[-12:]}",
            password_hash=NO_PASSWORD,
        )
        columns = {
            "organisation_id": scope.organisation_id,
            "root_user": customer_id,
            "namespace": "portal",
        }
        name, permissions = f"role-{user_id[-12:]}", [RoleAction.ReadBudget.value]
        role = sa.insert(effective_permissions.roles)
        await db.execute(role.values(**columns, name=name, permissions=permissions))
        mapping = sa.insert(effective_permissions.role_mappings)
        await db.execute(mapping.values(**columns, role=name, user_id=user_id))
        return (await add_api_client(db, scope, user_id=user_id, name="T3")).client_id

    def staff_view(self) -> Right:
        """The portal as a customer sees it, opened by a member of staff."""
        customer = self.customer()
        person = create_subuser(self.service, core=[RoleAction.ModifyReseller])
        with self.lock:
            view = begin_view(self.service, self.company_id, person.core, user_id=customer.user_id)
        return replace(
            customer,
            headers=view_headers(view),
            namespace="core",
            user_id=person.user_id,
            client_id=person.client_id,
            role=f"role-{person.user_id[-12:]}",
            view_id=view["view_id"],
        )

    # ── version 3 ────────────────────────────────────────────────────────────────────────────────

    def legacy_user(self) -> Right:  # version 3
        return self._legacy_right("user", ["stack:describeStacks"], Right(STACKS, {}, {}))

    def client_as_agent(self) -> Right:  # version 3
        """An API client in the place of an agent, whose user may describe the stack."""
        agent = create_agent(self.service)
        opened = replace(_agent_right(agent), owner={})
        return self._legacy_right("client", ["stack:describeStack"], opened)

    def agent(self) -> Right:  # version 3
        agent = create_agent(self.service)
        self._run(self._add_template, agent.stack_id)
        with self.lock:
            headers = agent_headers(self.service, agent)
        owner = self.service.root(product=LEGACY)
        return replace(_agent_right(agent), headers=headers, owner=owner)

    async def _add_template(  # version 3
        self, db: AsyncConnection, scope: TenantScope, stack_id: str
    ) -> str:
        """Without a template, a stack is neither described nor deleted."""
        stack = await stacks.find_stack(db, scope, stack_id)
        assert stack is not None
        body, at = exact_json.encode(build_template()), clock.now()
        await templates.add_version(
            db,
            scope,
            stack_id,
            stack.version_id,
            number=1,
            body=body,
            encrypted_secrets=None,
            at=at,
        )
        return ""

    def _legacy_right(  # version 3
        self, subject_type: str, actions: list[str], opened: Right
    ) -> Right:
        person = create_subuser(self.service)
        name, scope = (
            f"role-{person.user_id[-12:]}",
            build_document(build_statement(action=actions)),
        )
        with self.lock:
            role_id = create_role(self.service, scope, name)
            for each in (role_id, self.other_role):
                attached = attach_role(self.service, person.username, each)
                assert attached.status_code == 200, attached.text
        token, _ = self.service.resources.tokens.issue(
            LEGACY,
            organisation_id=self.service.organisation.organisation_id,
            user_id=person.user_id,
            client_id=person.client_id,
            epoch=1,
            subject_type=subject_type,
        )
        return replace(
            opened,
            headers={"Authorization": f"Bearer {token}"},
            owner=self.service.root(product=LEGACY),
            namespace="legacy",
            user_id=person.user_id,
            username=person.username,
            client_id=person.client_id,
            role=role_id,
        )

    def _run(self, add: Add, *ids: str) -> str:
        """Add something to the organisation in a transaction; return the id of its client."""
        organisation_id = self.service.organisation.organisation_id

        async def run() -> str:
            async with transaction(self.service.resources.engine, organisation_id) as db:
                return await add(db, TenantScope(organisation_id), *ids)

        return self.service.run(run)


def _agent_right(agent: AgentLogin) -> Right:  # version 3
    form = {"stack_id": agent.stack_id, "agent_id": "i-1", "status": "started"}
    return Right(AGENT_STATUS, {}, {}, form=form, accepted=202)
