"""Operations on deployments: read the stacks of one, or delete all of them."""

from collections.abc import Iterable

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row
from nimbill.foundation.errors import Conflict, not_found
from nimbill.legacy.deployments import records
from nimbill.legacy.deployments.bodies import (
    DeployedResource,
    DeployedStack,
    Deployment,
    DeploymentItem,
)
from nimbill.legacy.roles.permissions import (
    Permission,
    load_permission_of_user,
    scope_denied,
)
from nimbill.legacy.stacks.operations import (
    DESCRIBE_STACK,
    delete_stack,
    format_stack_resource,
)
from nimbill.legacy.stacks.records import list_launched_instances
from nimbill.legacy.stacks.stack_transitions import IN_PROGRESS

# See docs/choices.md, deployments.

INSTANCE = "AWS::EC2::Instance"
DELETE_STACK = "stack:deleteStack"


async def read_deployment(db: AsyncConnection, caller: Caller, name: str) -> Deployment:
    """Read the stacks that the caller may also describe in version 3."""
    scope = caller.scope
    permission = await load_permission_of_user(db, caller)
    permission.require_anywhere(DESCRIBE_STACK)
    stacks = [
        stack
        for stack in await records.list_stacks(db, scope, name)
        if _allows(permission, DESCRIBE_STACK, stack)
    ]
    if not stacks:
        raise not_found()
    stack_ids = [stack.stack_id for stack in stacks]
    layers = await records.list_layers(db, scope, stack_ids)
    instances = await list_launched_instances(db, scope, stack_ids)
    return Deployment(
        deployment=name,
        stacks=[
            DeployedStack(
                name=stack.nickname,
                region=stack.region,
                items=[
                    _to_item(layer, instances)
                    for layer in layers
                    if layer.stack_id == stack.stack_id
                ],
            )
            for stack in stacks
        ],
    )


def _allows(permission: Permission, action: str, stack: Row) -> bool:
    return permission.allows(action, format_stack_resource(stack.stack_id))


def _to_item(layer: Row, instances: Iterable[Row]) -> DeploymentItem:
    resources = [
        DeployedResource(key=INSTANCE, value=instance.instance_id)
        for instance in instances
        if (instance.stack_id, instance.flag) == (layer.stack_id, layer.flag)
    ]
    return DeploymentItem(name=layer.flag, status=layer.status, resources=resources)


async def delete_deployment(db: AsyncConnection, caller: Caller, name: str, *, force: bool) -> None:
    """Delete every stack; refuse if version 3 would not let the caller delete one of them.

    Without `force`, also refuse if a stack is in progress or has running containers.
    """
    scope = caller.scope
    permission = await load_permission_of_user(db, caller)
    permission.require_anywhere(DELETE_STACK)
    stacks = await records.list_stacks(db, scope, name, lock=True)
    if not stacks:
        raise not_found()
    if not all(_allows(permission, DELETE_STACK, stack) for stack in stacks):
        raise scope_denied()
    stack_ids = [stack.stack_id for stack in stacks]
    if not force:
        if any(stack.stack_status in IN_PROGRESS for stack in stacks):
            raise Conflict(
                "stack_in_progress",
                "A stack of this deployment is in progress. Retry later, or use force.",
            )
        if await records.has_running_containers(db, scope, stack_ids):
            raise Conflict(
                "containers_running",
                "Containers of this deployment are running. Stop them, or use force.",
            )
    for stack_id in stack_ids:
        await delete_stack(db, scope, stack_id)
