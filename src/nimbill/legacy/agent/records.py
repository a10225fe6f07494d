"""The last report of each agent, and about each container."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.legacy.agent.bodies import (
    MESSAGE_LENGTH_MAX,
    AgentStatusReport,
    ContainerStatusReport,
)
from nimbill.legacy.containers.records import legacy_containers
from nimbill.legacy.stacks.records import legacy_stacks
from nimbill.legacy.stacks.stack_transitions import StackStatus

legacy_agents = sa.Table(
    "legacy_agents",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, primary_key=True),
    sa.Column("agent_id", sa.Text, primary_key=True),
    sa.Column("instance_id", sa.Text),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("message", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def save_agent_report(
    db: AsyncConnection, scope: TenantScope, report: AgentStatusReport, *, at: datetime
) -> Row:
    """The first report registers the agent. A report without instance id keeps the stored one."""
    # A report must not be lost because its message is long.
    message = (report.message or "")[:MESSAGE_LENGTH_MAX] or None
    values = {"status": report.status, "message": message, "update_time": at}
    stmt = insert(legacy_agents).values(
        organisation_id=scope.organisation_id,
        stack_id=report.stack_id,
        agent_id=report.agent_id,
        instance_id=report.instance_id or None,
        create_time=at,
        **values,
    )
    instance_id = sa.func.coalesce(stmt.excluded.instance_id, legacy_agents.c.instance_id)
    result = await db.execute(
        stmt.on_conflict_do_update(
            index_elements=["organisation_id", "stack_id", "agent_id"],
            set_={**values, "instance_id": instance_id},
        ).returning(legacy_agents)
    )
    row: Row = result.one()
    return row


async def save_container_report(
    db: AsyncConnection, scope: TenantScope, report: ContainerStatusReport, *, at: datetime
) -> Row | None:
    """None if the container id belongs to another stack that is not deleted."""
    values = {"agent_id": report.agent_id, "status": report.status, "update_time": at}
    stmt = insert(legacy_containers).values(
        organisation_id=scope.organisation_id,
        container_id=report.container_id,
        stack_id=report.stack_id,
        instance_id=report.instance_id or None,
        **values,
    )
    same_stack = legacy_containers.c.stack_id == stmt.excluded.stack_id
    instance_id = sa.case(
        (same_stack, sa.func.coalesce(stmt.excluded.instance_id, legacy_containers.c.instance_id)),
        else_=stmt.excluded.instance_id,
    )
    stack_deleted = sa.exists().where(
        of_tenant(legacy_stacks, scope),
        legacy_stacks.c.stack_id == legacy_containers.c.stack_id,
        legacy_stacks.c.stack_status == StackStatus.DELETE_COMPLETE,
    )
    result = await db.execute(
        stmt.on_conflict_do_update(
            index_elements=["organisation_id", "container_id"],
            set_={**values, "stack_id": stmt.excluded.stack_id, "instance_id": instance_id},
            where=sa.or_(same_stack, stack_deleted),
        ).returning(legacy_containers)
    )
    row: Row | None = result.one_or_none()
    return row
