"""Stacks over HTTP; paths are relative to the address of the legacy API."""

from litestar.params import FromPath

from nimbill.foundation.basis import chosen
from nimbill.http.routing import CallerOfRequest, ResourcesOfWorker, Transaction, delete, get
from nimbill.legacy.roles.guard import OF_USERS, PermissionOfCaller
from nimbill.legacy.roles.permission import Needs
from nimbill.legacy.stacks import operations
from nimbill.legacy.stacks.bodies import Stack, StackLeaving


@get(
    "/alm/stack",
    needs=Needs(operations.LIST),
    **OF_USERS,
)
async def list_stacks(
    caller: CallerOfRequest,
    db: Transaction,
    permission: PermissionOfCaller,
    resources: ResourcesOfWorker,
) -> list[Stack]:
    """The stacks of the organisation account, the oldest first; those the scope allows."""
    return await operations.list_stacks(db, caller, permission, resources.encryptor)


@get(
    "/alm/stack/{stack_id:str}",
    needs=Needs("stack:describeStack", operations.resource_of("{stack_id}")),
    **OF_USERS,
)
async def describe_stack(
    stack_id: FromPath[str],
    caller: CallerOfRequest,
    db: Transaction,
    resources: ResourcesOfWorker,
) -> Stack:
    """One stack; its token is shown to the master account alone."""
    return await operations.describe_stack(db, caller, resources.encryptor, stack_id)


@delete(
    "/alm/stack/{stack_id:str}",
    needs=Needs("stack:deleteStack", operations.resource_of("{stack_id}")),
    audited="stack/{stack_id}",
    **(OF_USERS | {"basis": chosen("delete-stack")}),
)
async def delete_stack(
    stack_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> StackLeaving:
    """Delete a stack: its instances are ended first, then it is gone."""
    status = await operations.delete_stack(db, caller.scope, stack_id)
    return StackLeaving(stack_status=status, stack_id=stack_id)


ROUTES = [list_stacks, describe_stack, delete_stack]
