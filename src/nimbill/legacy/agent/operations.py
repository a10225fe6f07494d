"""Operations for agents: report the status of agent and container, read the configuration."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict
from nimbill.legacy.agent import records
from nimbill.legacy.agent.agent_stack import find_agent_stack, is_agent
from nimbill.legacy.agent.bodies import (
    AgentConfiguration,
    AgentRecord,
    AgentStatusReport,
    ContainerRecord,
    ContainerStatusReport,
)
from nimbill.legacy.provisioning.agent_events import fail_layer_of_instance, replace_instance
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import read_masked_template, read_template_with_secrets
from nimbill.legacy.templates.template_rules import (
    CONTAINER_FIELD_ALIASES,
    MORE_CONTAINER_FIELDS,
    merge_container_fields,
)
from nimbill.legacy.timestamps import format_unix_seconds

# See docs/choices.md, agent-configuration.

SPOT_TERMINATE = "spot_terminate"
ERROR = "error"


async def report_agent_status(
    db: AsyncConnection, caller: Caller, report: AgentStatusReport
) -> AgentRecord:
    """A termination notice replaces the instance; an error fails its layer if in progress."""
    changes_stack = report.status in (SPOT_TERMINATE, ERROR)
    stack = await find_agent_stack(db, caller, report.stack_id, lock=changes_stack)
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
    await find_agent_stack(db, caller, report.stack_id)
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
    stack = await find_agent_stack(db, caller, stack_id)
    version = await templates.find_version(db, caller.scope, stack_id, stack.version_id)
    assert version is not None, "a stack has the version it names"
    if is_agent(caller):
        template = read_template_with_secrets(version, encryptor)
    else:
        template = read_masked_template(version)
    for layer in template["configurations"]:
        if layer["flag"] == flag and (container := merge_container_fields(layer)) is not None:
            return _build_configuration(container, int(version.create_time.timestamp()))
    return None


def _build_configuration(container: Mapping[str, Any], updated: int) -> AgentConfiguration:
    """Each specified value stands under both of its names."""
    specified = {
        name: container.get(name, {} if name == "environment_variables" else "")
        for name in CONTAINER_FIELD_ALIASES
    }
    published = {alias: specified[name] for name, alias in CONTAINER_FIELD_ALIASES.items()}
    more = {
        name: container.get(name, field.default) for name, field in MORE_CONTAINER_FIELDS.items()
    }
    return AgentConfiguration(
        **specified, updated=updated, **published, container_updated=updated, **more
    )
