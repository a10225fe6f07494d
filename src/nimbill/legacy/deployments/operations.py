"""What may be done with a deployment: looking at its stacks, and deleting all of them."""

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
from nimbill.legacy.stacks.stack_moves import IN_PROGRESS

basis = chosen("deployments")

INSTANCE = "AWS::EC2::Instance"


async def read_deployment(db: AsyncConnection, scope: TenantScope, name: str) -> Deployment:
    found = await records.stacks_of(db, scope, name)
    if not found:
        raise not_found()
    ids = [stack.stack_id for stack in found]
    layers = await records.layers_of(db, scope, ids)
    instances = await records.instances_of(db, scope, ids)
    return Deployment(
        deployment=name,
        stacks=[
            DeployedStack(
                name=stack.nickname,
                region=stack.region,
                items=[
                    _item(layer, [i for i in instances if _is_of(i, layer)])
                    for layer in layers
                    if layer.stack_id == stack.stack_id
                ],
            )
            for stack in found
        ],
    )


def _is_of(instance: Row, layer: Row) -> bool:
    return (instance.stack_id, instance.flag) == (layer.stack_id, layer.flag)


def _item(layer: Row, instances: Iterable[Row]) -> DeploymentItem:
    resources = [DeployedResource(key=INSTANCE, value=i.instance_id) for i in instances]
    return DeploymentItem(name=layer.flag, status=layer.status, resources=resources)


async def delete_deployment(
    db: AsyncConnection, scope: TenantScope, name: str, *, force: bool
) -> None:
    """All of its stacks go; without force, none of them while one is busy."""
    found = await records.stacks_of(db, scope, name, lock=True)
    if not found:
        raise not_found()
    ids = [stack.stack_id for stack in found]
    if not force:
        if any(stack.stack_status in IN_PROGRESS for stack in found):
            raise Conflict("stack_in_progress", "a stack of this deployment is in progress")
        if await records.any_container_runs(db, scope, ids):
            raise Conflict("containers_running", "containers of this deployment are running")
    for stack_id in ids:
        await delete_stack(db, scope, stack_id)
