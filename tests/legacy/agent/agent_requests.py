"""Requests of agents and API clients, and the stacks that they report for."""

from __future__ import annotations

from typing import Any

import httpx
import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.legacy.provisioning.instance_plan import InstanceState
from nimbill.legacy.provisioning.records import format_provision, legacy_instances
from nimbill.legacy.stacks.records import legacy_layers
from nimbill.legacy.token_product import LEGACY
from tests.legacy.agents import AgentLogin, agent_headers
from tests.legacy.templates.template_requests import apply_template, master_headers
from tests.running_service import Service

AGENT_STATUS = "/v3/alm/agent/agent_status"
CONTAINER_STATUS = "/v3/alm/agent/container_status"
CONFIG = "/v3/alm/agent/config"


def create_stack(service: Service, **changes: Any) -> AgentLogin:
    """Apply a valid template; return the login of the stack's agents."""
    stack_id = apply_template(service, **changes)["stack_id"]
    stack = service.http.get(f"/v3/alm/stack/{stack_id}", headers=master_headers(service))
    return AgentLogin(stack_id, stack.json()["auth_token"])


def client_headers(service: Service) -> dict[str, str]:
    return service.root(product=LEGACY, agent=True)


def post_report(
    service: Service,
    path: str,
    agent: AgentLogin,
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> httpx.Response:
    body = {"stack_id": agent.stack_id, "agent_id": "agent-1", "status": "starting", **fields}
    if path == CONTAINER_STATUS:
        body = {"container_id": "container-1", **body}
    return service.http.post(path, json=body, headers=headers or agent_headers(service, agent))


def add_instance(
    service: Service,
    agent: AgentLogin,
    *,
    state: InstanceState = InstanceState.running,
    layer: str = "completed",
) -> str:
    """Store an instance of layer web and the status of all layers; return the instance id."""
    instance_id, at = f"i-{new_id('x')[-17:]}", clock.now()
    organisation_id = service.organisation.organisation_id

    async def add() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            await db.execute(
                sa.insert(legacy_instances).values(
                    organisation_id=organisation_id,
                    stack_id=agent.stack_id,
                    instance_key=new_id("ins"),
                    flag="web",
                    ordinal=7,
                    provision=format_provision({}),
                    state=state,
                    instance_id=instance_id,
                    create_time=at,
                    update_time=at,
                )
            )
            await db.execute(
                sa.update(legacy_layers)
                .where(legacy_layers.c.stack_id == agent.stack_id)
                .values(status=layer)
            )

    service.run(add)
    return instance_id
