"""Containers over HTTP; paths are relative to the address of the legacy API."""

from litestar.params import FromPath, FromQuery

from nimbill.http.routing import CallerOfRequest, Transaction, get
from nimbill.legacy.containers import operations
from nimbill.legacy.containers.bodies import Container
from nimbill.legacy.roles.guard import OF_USERS, PermissionOfCaller
from nimbill.legacy.roles.permission import Needs


@get(
    "/alm/container/{container_id:str}",
    needs=Needs(operations.DESCRIBE, operations.resource_of("{container_id}")),
    **OF_USERS,
)
async def describe_container(
    container_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> Container:
    """One container, as it was last reported."""
    return await operations.describe_container(db, caller.scope, container_id)


@get(
    "/alm/container",
    needs=Needs(operations.DESCRIBE),
    **OF_USERS,
)
async def list_containers(
    caller: CallerOfRequest,
    db: Transaction,
    permission: PermissionOfCaller,
    stack_id: FromQuery[str | None] = None,
    instance_id: FromQuery[str | None] = None,
) -> list[Container]:
    """The containers of an instance or of a stack; with both given, of the instance."""
    return await operations.list_containers(
        db, caller.scope, permission, stack_id=stack_id, instance_id=instance_id
    )


ROUTES = [describe_container, list_containers]
