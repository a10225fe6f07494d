"""What agents may do: report how they and their containers are, and ask what to run."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, not_found
from nimbill.legacy.agent import records
from nimbill.legacy.agent.bodies import (
    AgentConfiguration,
    AgentRecord,
    AgentStatusReport,
    ContainerRecord,
    ContainerStatusReport,
)
from nimbill.legacy.provisioning.notices import error_reported, instance_leaves
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.stack_moves import StackStatus
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import opened, shown
from nimbill.legacy.templates.template_rules import settled_container
from nimbill.legacy.timestamps import format_unix_seconds

basis = stated("Events")
binding_basis = chosen("agent-credentials")
configuration_basis = chosen("agent-configuration")

SPOT_TERMINATE = "spot_terminate"
ERROR = "error"


async def report_agent_status(
    db: AsyncConnection, caller: Caller, sent: AgentStatusReport
) -> AgentRecord:
    """A notice of termination has the instance replaced; an error fails a layer on its way."""
    moves = sent.status in (SPOT_TERMINATE, ERROR)
    stack = await _stack_of(db, caller, sent.stack_id, lock=moves)
    row = await records.put_agent(db, caller.scope, sent, at=clock.now())
    instance_id = row.instance_id or row.agent_id
    if sent.status == SPOT_TERMINATE:
        await instance_leaves(db, caller.scope, stack, instance_id, reason=SPOT_TERMINATE)
    elif sent.status == ERROR:
        await error_reported(db, caller.scope, stack, instance_id, message=row.message)
    return AgentRecord(
        agent_id=row.agent_id,
        create_time=format_unix_seconds(row.create_time),
        update_time=format_unix_seconds(row.update_time),
        stack_id=row.stack_id,
        instance_id=row.instance_id or "",
        status=row.status,
        message=row.message or "",
    )


async def report_container_status(
    db: AsyncConnection, caller: Caller, sent: ContainerStatusReport
) -> ContainerRecord:
    """The last report wins; refuses the container of another stack."""
    await _stack_of(db, caller, sent.stack_id)
    row = await records.put_container(db, caller.scope, sent, at=clock.now())
    if row is None:
        raise Conflict("container_of_other_stack", "another stack has a container of this id")
    return ContainerRecord(
        container_id=row.container_id,
        agent_id=row.agent_id,
        update_time=format_unix_seconds(row.update_time),
        stack_id=row.stack_id,
        instance_id=row.instance_id or "",
        status=row.status,
    )


async def read_configuration(
    db: AsyncConnection, caller: Caller, encryptor: Encryptor, *, stack_id: str, flag: str
) -> AgentConfiguration | None:
    """None where no layer has this flag, or it defines no container."""
    stack = await _stack_of(db, caller, stack_id)
    version = await templates.find_version(db, caller.scope, stack_id, stack.version_id)
    assert version is not None, "a stack has the version it names"
    template = opened(version, encryptor) if _is_agent(caller) else shown(version)
    for layer in template["configurations"]:
        if layer["flag"] == flag and (container := settled_container(layer)) is not None:
            return AgentConfiguration(
                image=container.get("image", ""),
                environment_variables=container.get("environment_variables", {}),
                gitReference=container.get("gitReference", ""),
                gitPrivateKey=container.get("gitPrivateKey", ""),
                gitRepo=container.get("gitRepo", ""),
                updated=int(version.create_time.timestamp()),
            )
    return None


async def _stack_of(
    db: AsyncConnection, caller: Caller, stack_id: str, *, lock: bool = False
) -> Row:
    """An agent knows its own stack alone; an API client those of its organisation."""
    if _is_agent(caller) and caller.user_id != stack_id:
        raise not_found()
    stack = await stacks.find_stack(db, caller.scope, stack_id, lock=lock)
    if stack is None or stack.stack_status == StackStatus.DELETE_COMPLETE:
        raise not_found()
    return stack


def _is_agent(caller: Caller) -> bool:
    return caller.subject_type == "agent"
