"""Requests for deployments, and rows of stacks, layers, instances and containers."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.database.tenant_scope import Row, transaction
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.legacy.containers.records import legacy_containers
from nimbill.legacy.provisioning.records import legacy_instances
from nimbill.legacy.stacks.records import legacy_layers, legacy_stacks
from tests.problem_responses import HttpResponse
from tests.running_service import Service

PATH = "/m/core/v0/deployments"


def read_deployment(service: Service, name: str = "shop", headers: Any = None) -> HttpResponse:
    return service.http.get(f"{PATH}/{name}", headers=headers or service.root())


def delete_deployment(
    service: Service, name: str = "shop", query: str = "", headers: Any = None
) -> HttpResponse:
    return service.http.delete(f"{PATH}/{name}{query}", headers=headers or service.root())


def insert_row(service: Service, table: sa.Table, **values: Any) -> None:
    organisation_id = service.organisation.organisation_id

    async def add() -> None:
        async with transaction(service.resources.engine, organisation_id) as db:
            await db.execute(sa.insert(table).values(organisation_id=organisation_id, **values))

    service.run(add)


def add_stack(
    service: Service, *, status: str = "CREATE_COMPLETE", deployment: str = "shop", **values: Any
) -> str:
    stack_id, at = new_id("stk"), clock.now()
    stack = {
        "nickname": "quiet-river",
        "provisioner": "local",
        "region": "ap-northeast-1",
        "version_id": "ver_1",
        "user_id": service.organisation.root_user_id,
        "username": "root",
        "token_hash": b"none",
        "create_time": at,
        "update_time": at,
    }
    insert_row(
        service,
        legacy_stacks,
        **(stack | values),
        stack_id=stack_id,
        deployment=deployment,
        stack_status=status,
    )
    return stack_id


def add_layer(
    service: Service, stack_id: str, flag: str, status: str = "completed", position: int = 0
) -> None:
    insert_row(
        service, legacy_layers, stack_id=stack_id, flag=flag, status=status, position=position
    )


def add_instance(
    service: Service, stack_id: str, flag: str, instance_id: str | None, state: str = "running"
) -> None:
    insert_row(
        service,
        legacy_instances,
        stack_id=stack_id,
        instance_key=new_id("ins"),
        flag=flag,
        ordinal=0,
        provision="{}",
        state=state,
        instance_id=instance_id,
        create_time=clock.now(),
        update_time=clock.now(),
    )


def add_container(service: Service, stack_id: str, status: str) -> None:
    insert_row(
        service,
        legacy_containers,
        container_id=new_id("cnt"),
        stack_id=stack_id,
        agent_id="agent-1",
        status=status,
        update_time=clock.now(),
    )


def read_status(service: Service, stack_id: str) -> str:
    organisation_id = service.organisation.organisation_id

    async def find() -> Row:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.select(legacy_stacks).where(legacy_stacks.c.stack_id == stack_id)
            return (await db.execute(stmt)).one()

    return str(service.run(find).stack_status)
