"""Operations for agents: report the status of agent and container, read the configuration."""

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
from nimbill.legacy.audiences import AGENT
from nimbill.legacy.provisioning.agent_events import fail_layer_of_instance, replace_instance
from nimbill.legacy.roles.permissions import load_permission_of_user
from nimbill.legacy.stacks import records as stacks
from nimbill.legacy.stacks.operations import DESCRIBE_STACK, format_stack_resource
from nimbill.legacy.stacks.stack_transitions import StackStatus
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import read_masked_template, read_template_with_secrets
from nimbill.legacy.templates.template_rules import merge_container_fields
from nimbill.legacy.timestamps import format_unix_seconds

basis = stated("Events")
binding_basis = chosen("agent-credentials")
configuration_basis = chosen("agent-configuration")

SPOT_TERMINATE = "spot_terminate"
ERROR = "error"


async def report_agent_status(
    db: AsyncConnection, caller: Caller, report: AgentStatusReport
) -> AgentRecord:
    """A termination notice replaces the instance; an error fails its layer if in progress."""
    changes_stack = report.status in (SPOT_TERMINATE, ERROR)
    stack = await _find_stack(db, caller, report.stack_id, lock=changes_stack)
    row = await records.save_agent_report(db, caller.scope, report, at=clock.now())
    instance_id = row.instance_id or row.agent_id
    if report.status == SPOT_TERMINATE:
        await replace_instance(db, caller.scope, stack, instance_id, reason=SPOT_TERMINATE)
    elif report.status == ERROR:
        await fail_layer_of_instance(db, caller.scope, stack, instance_id, message=row.message)
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
    db: AsyncConnection, caller: Caller, report: ContainerStatusReport
) -> ContainerRecord:
    """The last report wins. Refuse a container id that belongs to another stack."""
    await _find_stack(db, caller, report.stack_id)
    row = await records.save_container_report(db, caller.scope, report, at=clock.now())
    if row is None:
        raise Conflict("container_of_other_stack", "This container id belongs to another stack.")
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
    """None if no layer has this flag, or if the layer defines no container."""
    stack = await _find_stack(db, caller, stack_id)
    version = await templates.find_version(db, caller.scope, stack_id, stack.version_id)
    assert version is not None, "a stack has the version it names"
    if _is_agent(caller):
        template = read_template_with_secrets(version, encryptor)
    else:
        template = read_masked_template(version)
    for layer in template["configurations"]:
        if layer["flag"] == flag and (container := merge_container_fields(layer)) is not None:
            return AgentConfiguration(
                image=container.get("image", ""),
                environment_variables=container.get("environment_variables", {}),
                gitReference=container.get("gitReference", ""),
                gitPrivateKey=container.get("gitPrivateKey", ""),
                gitRepo=container.get("gitRepo", ""),
                updated=int(version.create_time.timestamp()),
            )
    return None


async def _find_stack(
    db: AsyncConnection, caller: Caller, stack_id: str, *, lock: bool = False
) -> Row:
    """An agent finds only its own stack, an API client those that its user may describe."""
    if not _is_agent(caller):
        permission = await load_permission_of_user(db, caller)
        permission.require(DESCRIBE_STACK, format_stack_resource(stack_id))
    elif caller.user_id != stack_id:
        raise not_found()
    stack = await stacks.find_stack(db, caller.scope, stack_id, lock=lock)
    if stack is None or stack.stack_status == StackStatus.DELETE_COMPLETE:
        raise not_found()
    return stack


def _is_agent(caller: Caller) -> bool:
    return caller.subject_type == AGENT
