"""Routes of containers; paths are relative to /v3."""

from litestar.params import FromPath, FromQuery

from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.legacy.containers import operations
from nimbill.legacy.containers.bodies import Container
from nimbill.legacy.roles.guard import USER_ROUTE, PermissionOfCaller
from nimbill.legacy.roles.permissions import ScopeRequirement


@get(
    "/alm/container/{container_id:str}",
    requires=ScopeRequirement(
        operations.DESCRIBE_CONTAINERS, operations.format_container_resource("{container_id}")
    ),
    **USER_ROUTE,
)
async def describe_container(
    container_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Container:
    """Read a container with the status that was last reported."""
    return await operations.describe_container(db, caller.scope, container_id)


@get(
    "/alm/container",
    requires=ScopeRequirement(operations.DESCRIBE_CONTAINERS),
    **USER_ROUTE,
)
async def list_containers(
    caller: RequestCaller,
    db: Transaction,
    permission: PermissionOfCaller,
    stack_id: FromQuery[str | None] = None,
    instance_id: FromQuery[str | None] = None,
) -> list[Container]:
    """List the containers of an instance or of a stack; if both are given, of the instance."""
    return await operations.list_containers(
        db, caller.scope, permission, stack_id=stack_id, instance_id=instance_id
    )


ROUTES = [describe_container, list_containers]
