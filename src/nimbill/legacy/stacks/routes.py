"""Routes of stacks; paths are relative to /v3."""

from litestar.params import FromPath

from nimbill.foundation.basis import chosen
from nimbill.http.routing import RequestCaller, Transaction, WorkerResources, delete, get
from nimbill.legacy.roles.guard import USER_ROUTE, PermissionOfCaller
from nimbill.legacy.roles.permissions import ScopeRequirement
from nimbill.legacy.stacks import operations
from nimbill.legacy.stacks.bodies import DescribedStack, Stack, StackDeletion


@get(
    "/alm/stack",
    requires=ScopeRequirement(operations.DESCRIBE_STACKS),
    **USER_ROUTE,
)
async def list_stacks(
    caller: RequestCaller,
    db: Transaction,
    permission: PermissionOfCaller,
    resources: WorkerResources,
) -> list[Stack]:
    """List the stacks that the caller's scope allows, oldest first."""
    return await operations.list_stacks(db, caller, permission, resources.encryptor)


@get(
    "/alm/stack/{stack_id:str}",
    requires=ScopeRequirement(
        operations.DESCRIBE_STACK, operations.format_stack_resource("{stack_id}")
    ),
    **USER_ROUTE,
)
async def describe_stack(
    stack_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> DescribedStack:
    """Read a stack and its instances. Only the master account sees its token."""
    return await operations.describe_stack(db, caller, resources.encryptor, stack_id)


@delete(
    "/alm/stack/{stack_id:str}",
    requires=ScopeRequirement("stack:deleteStack", operations.format_stack_resource("{stack_id}")),
    audited="stack/{stack_id}",
    **(USER_ROUTE | {"basis": chosen("delete-stack")}),
)
async def delete_stack(
    stack_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> StackDeletion:
    """Delete a stack and terminate its instances."""
    status = await operations.delete_stack(db, caller.scope, stack_id)
    return StackDeletion(stack_status=status, stack_id=stack_id)


ROUTES = [list_stacks, describe_stack, delete_stack]
