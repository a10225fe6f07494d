"""Operations on stacks: list, read and delete."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import not_found
from nimbill.legacy.roles.permissions import Permission
from nimbill.legacy.stacks import records
from nimbill.legacy.stacks.auth_tokens import show_token
from nimbill.legacy.stacks.bodies import DescribedStack, Stack
from nimbill.legacy.stacks.stack_instances import group_instances
from nimbill.legacy.stacks.stack_transitions import DELETE, StackStatus

DESCRIBE_STACKS = "stack:describeStacks"
DESCRIBE_STACK = "stack:describeStack"


def format_stack_resource(stack_id: str) -> str:
    return f"mrn:alm:stack:{stack_id}"


async def list_stacks(
    db: AsyncConnection, caller: Caller, permission: Permission, encryptor: Encryptor
) -> list[Stack]:
    """The stacks of the organisation that the caller's scope allows."""
    stacks = await records.list_stacks_with_template(db, caller.scope)
    return [
        Stack(**_read_fields(stack, caller, encryptor))
        for stack in stacks
        if permission.allows(DESCRIBE_STACKS, format_stack_resource(stack.stack_id))
    ]


async def describe_stack(
    db: AsyncConnection, caller: Caller, encryptor: Encryptor, stack_id: str
) -> DescribedStack:
    stack = await records.find_stack_with_template(db, caller.scope, stack_id)
    if stack is None:
        raise not_found()
    layers = await records.list_layers(db, caller.scope, stack_id)
    launched = await records.list_launched_instances(db, caller.scope, [stack_id])
    return DescribedStack(
        **_read_fields(stack, caller, encryptor),
        instances=group_instances([layer.flag for layer in layers], launched),
    )


def _read_fields(stack: Row, caller: Caller, encryptor: Encryptor) -> dict[str, Any]:
    return {
        "stack_id": stack.stack_id,
        "version_id": stack.version_id,
        "stack_status": StackStatus(stack.stack_status),
        "configuration": exact_json.decode_stored(stack.body),
        "nickname": stack.nickname,
        "create_time": stack.create_time.isoformat(),
        "user_id": stack.user_id,
        "username": stack.username,
        "auth_token": show_token(stack, encryptor, caller),
        "reason": stack.reason,
    }


async def delete_stack(db: AsyncConnection, scope: TenantScope, stack_id: str) -> StackStatus:
    """Start the deletion; if it is in progress already, change nothing."""
    stack = await records.find_stack(db, scope, stack_id, lock=True)
    if stack is None or stack.stack_status == StackStatus.DELETE_COMPLETE:
        raise not_found()
    if stack.stack_status != DELETE.target:
        await records.set_status(db, scope, stack_id, DELETE.target, at=clock.now())
        await records.request_reconciliation(db, scope, stack_id)
    return DELETE.target
