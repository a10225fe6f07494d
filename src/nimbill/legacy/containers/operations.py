"""What may be done with containers: describing one, and those of a stack or an instance."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation, not_found, refuse_if
from nimbill.legacy.containers import records
from nimbill.legacy.containers.bodies import Container
from nimbill.legacy.roles.permission import Permission
from nimbill.legacy.timestamps import format_unix_seconds

basis = chosen("container-lists")

DESCRIBE = "container:describeContainers"


def resource_of(container_id: str) -> str:
    return f"mrn:alm:container:{container_id}"


async def describe_container(
    db: AsyncConnection, scope: TenantScope, container_id: str
) -> Container:
    container = await records.find_container(db, scope, container_id)
    if container is None:
        raise not_found()
    return _described(container)


async def list_containers(
    db: AsyncConnection,
    scope: TenantScope,
    permission: Permission,
    *,
    stack_id: str | None,
    instance_id: str | None,
) -> list[Container]:
    """Of the instance, whatever stack is named beside it; else of the stack. Empty is absent."""
    if not stack_id and not instance_id:
        refuse_if([Violation("stack_id", "required where instance_id is not given")])
    which = records.of_instance(instance_id) if instance_id else records.of_stack(stack_id or "")
    return [
        _described(one)
        for one in await records.list_containers(db, scope, which)
        if permission.allows(DESCRIBE, resource_of(one.container_id))
    ]


def _described(container: Row) -> Container:
    return Container(
        container_id=container.container_id,
        agent_id=container.agent_id,
        update_time=format_unix_seconds(container.update_time),
        stack_id=container.stack_id,
        instance_id=container.instance_id or "",
        status=container.status,
    )
