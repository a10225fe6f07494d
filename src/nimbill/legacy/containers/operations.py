"""Operations on containers: read one, or list those of a stack or an instance."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Violation, not_found, refuse_if
from nimbill.legacy.containers import records
from nimbill.legacy.containers.bodies import Container
from nimbill.legacy.roles.permissions import Permission
from nimbill.legacy.timestamps import format_unix_seconds

# See docs/choices.md, container-lists.

DESCRIBE_CONTAINERS = "container:describeContainers"


def format_container_resource(container_id: str) -> str:
    return f"mrn:alm:container:{container_id}"


async def describe_container(
    db: AsyncConnection, scope: TenantScope, container_id: str
) -> Container:
    container = await records.find_container(db, scope, container_id)
    if container is None:
        raise not_found()
    return _to_body(container)


async def list_containers(
    db: AsyncConnection,
    scope: TenantScope,
    permission: Permission,
    *,
    stack_id: str | None,
    instance_id: str | None,
) -> list[Container]:
    """The containers of the instance if one is given, else of the stack; empty means absent."""
    if not stack_id and not instance_id:
        refuse_if([Violation("stack_id", "required where instance_id is not given")])
    condition = (
        records.is_on_instance(instance_id) if instance_id else records.is_in_stack(stack_id or "")
    )
    return [
        _to_body(container)
        for container in await records.list_containers(db, scope, condition)
        if permission.allows(DESCRIBE_CONTAINERS, format_container_resource(container.container_id))
    ]


def _to_body(container: Row) -> Container:
    return Container(
        container_id=container.container_id,
        agent_id=container.agent_id,
        update_time=format_unix_seconds(container.update_time),
        stack_id=container.stack_id,
        instance_id=container.instance_id or "",
        status=container.status,
    )
