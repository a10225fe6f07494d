"""The stack that an agent, or an API client in its place, acts for."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row
from nimbill.foundation.errors import not_found
from nimbill.legacy.roles.permissions import load_permission_of_user
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.operations import DESCRIBE_STACK, format_stack_resource
from nimbill.legacy.stacks.stack_transitions import StackStatus
from nimbill.legacy.token_product import AGENT

# See docs/choices.md, agent-credentials.


async def find_agent_stack(
    db: AsyncConnection, caller: Caller, stack_id: str, *, lock: bool = False
) -> Row:
    """An agent finds only its own stack, an API client those that its user may describe."""
    if not is_agent(caller):
        permission = await load_permission_of_user(db, caller)
        permission.require(DESCRIBE_STACK, format_stack_resource(stack_id))
    elif caller.user_id != stack_id:
        raise not_found()
    stack = await stacks.find_stack(db, caller.scope, stack_id, lock=lock)
    if stack is None or stack.stack_status == StackStatus.DELETE_COMPLETE:
        raise not_found()
    return stack


def is_agent(caller: Caller) -> bool:
    return caller.subject_type == AGENT
