"""What may be done with stacks: describing them, and deleting one."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import not_found
from nimbill.legacy.roles.permission import Permission
from nimbill.legacy.stacks import records
from nimbill.legacy.stacks.auth_tokens import token_shown
from nimbill.legacy.stacks.bodies import Stack
from nimbill.legacy.stacks.stack_moves import DELETE, StackStatus

LIST = "stack:describeStacks"


def resource_of(stack_id: str) -> str:
    return f"mrn:alm:stack:{stack_id}"


async def list_stacks(
    db: AsyncConnection, caller: Caller, permission: Permission, encryptor: Encryptor
) -> list[Stack]:
    """Those of the organisation that the caller's scope allows."""
    found = await records.list_described(db, caller.scope)
    return [
        _described(stack, caller, encryptor)
        for stack in found
        if permission.allows(LIST, resource_of(stack.stack_id))
    ]


async def describe_stack(
    db: AsyncConnection, caller: Caller, encryptor: Encryptor, stack_id: str
) -> Stack:
    stack = await records.find_described(db, caller.scope, stack_id)
    if stack is None:
        raise not_found()
    return _described(stack, caller, encryptor)


def _described(stack: Row, caller: Caller, encryptor: Encryptor) -> Stack:
    return Stack(
        stack_id=stack.stack_id,
        version_id=stack.version_id,
        stack_status=StackStatus(stack.stack_status),
        configuration=exact_json.read_own(stack.body),
        nickname=stack.nickname,
        create_time=stack.create_time.isoformat(),
        user_id=stack.user_id,
        username=stack.username,
        auth_token=token_shown(stack, encryptor, caller),
        reason=stack.reason,
    )


async def delete_stack(db: AsyncConnection, scope: TenantScope, stack_id: str) -> StackStatus:
    """Asks for its instances to be ended; asked again meanwhile, nothing more is done."""
    stack = await records.find_stack(db, scope, stack_id, lock=True)
    if stack is None or stack.stack_status == StackStatus.DELETE_COMPLETE:
        raise not_found()
    if stack.stack_status != DELETE.after:
        await records.put_status(db, scope, stack_id, DELETE.after, at=clock.now())
        await records.ask_to_move(db, scope, stack_id)
    return DELETE.after
