"""Operations on deployments: read the stacks of one, or delete all of them."""

from collections.abc import Iterable

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, not_found
from nimbill.legacy.deployments import records
from nimbill.legacy.deployments.bodies import (
    DeployedResource,
    DeployedStack,
    Deployment,
    DeploymentItem,
)
from nimbill.legacy.stacks.operations import delete_stack
from nimbill.legacy.stacks.stack_transitions import IN_PROGRESS

basis = chosen("deployments")

INSTANCE = "AWS::EC2::Instance"


async def read_deployment(db: AsyncConnection, scope: TenantScope, name: str) -> Deployment:
    stacks = await records.list_stacks(db, scope, name)
    if not stacks:
        raise not_found()
    stack_ids = [stack.stack_id for stack in stacks]
    layers = await records.list_layers(db, scope, stack_ids)
    instances = await records.list_instances(db, scope, stack_ids)
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


def _to_item(layer: Row, instances: Iterable[Row]) -> DeploymentItem:
    resources = [
        DeployedResource(key=INSTANCE, value=instance.instance_id)
        for instance in instances
        if (instance.stack_id, instance.flag) == (layer.stack_id, layer.flag)
    ]
    return DeploymentItem(name=layer.flag, status=layer.status, resources=resources)


async def delete_deployment(
    db: AsyncConnection, scope: TenantScope, name: str, *, force: bool
) -> None:
    """Without `force`, refuse if a stack is in progress or has running containers."""
    stacks = await records.list_stacks(db, scope, name, lock=True)
    if not stacks:
        raise not_found()
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
