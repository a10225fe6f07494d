"""Agents with a stack of their own, and the token with which they log in."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from nimbill.access.passwords import generate_client_secret, hash_client_secret
from nimbill.database.tenant_lookup import add_lookup
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.legacy.stacks.records import legacy_stacks
from nimbill.legacy.stacks.stack_ids import STACK_LOOKUP
from nimbill.legacy.token_product import LEGACY
from tests.identity.login.token_requests import bearer_headers, issue_tokens
from tests.running_service import Service


@dataclass(frozen=True)
class AgentLogin:
    stack_id: str
    auth_token: str

    @property
    def form(self) -> dict[str, str]:
        """The body of a token request."""
        return {
            "grant_type": "client_credentials",
            "client_id": self.stack_id,
            "client_secret": self.auth_token,
        }


def create_agent(
    service: Service,
    organisation: NewOrganisation | None = None,
    *,
    stack_status: str = "CREATE_COMPLETE",
) -> AgentLogin:
    """Store a stack as version 3 does, without a template."""
    who = organisation or service.organisation
    agent = AgentLogin(new_id("stk"), generate_client_secret())
    scope, at = TenantScope(who.organisation_id), clock.now()

    async def add() -> None:
        async with transaction(service.resources.engine, who.organisation_id) as db:
            await db.execute(
                sa.insert(legacy_stacks).values(
                    organisation_id=who.organisation_id,
                    stack_id=agent.stack_id,
                    nickname="quiet-river",
                    deployment="shop",
                    provisioner="local",
                    region="ap-northeast-1",
                    stack_status=stack_status,
                    version_id=new_id("ver"),
                    user_id=who.root_user_id,
                    username="root",
                    token_hash=hash_client_secret(agent.auth_token),
                    create_time=at,
                    update_time=at,
                )
            )
            await add_lookup(db, scope, STACK_LOOKUP, agent.stack_id)

    service.run(add)
    return agent


def set_stack_status(service: Service, stack_id: str, stack_status: str) -> None:
    organisation_id = service.organisation.organisation_id

    async def set_status() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            await db.execute(
                sa.update(legacy_stacks)
                .where(legacy_stacks.c.stack_id == stack_id)
                .values(stack_status=stack_status)
            )

    service.run(set_status)


def agent_headers(service: Service, agent: AgentLogin) -> dict[str, str]:
    return bearer_headers(issue_tokens(service, agent.form, LEGACY)["access_token"])
