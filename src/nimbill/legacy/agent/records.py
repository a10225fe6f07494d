"""Stored agents and containers, each as it last reported or was reported."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata
from nimbill.legacy.agent.bodies import AgentStatusReport, ContainerStatusReport
from nimbill.legacy.containers.records import legacy_containers
from nimbill.legacy.stacks.records import legacy_stacks
from nimbill.legacy.stacks.stack_moves import StackStatus

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


async def put_agent(
    db: AsyncConnection, scope: TenantScope, sent: AgentStatusReport, *, at: datetime
) -> Row:
    """Registered with its first report; an instance named once stays until another is named."""
    told = {"status": sent.status, "message": sent.message or None, "update_time": at}
    new = insert(legacy_agents).values(
        organisation_id=scope.organisation_id,
        stack_id=sent.stack_id,
        agent_id=sent.agent_id,
        instance_id=sent.instance_id or None,
        create_time=at,
        **told,
    )
    named = sa.func.coalesce(new.excluded.instance_id, legacy_agents.c.instance_id)
    stored = await db.execute(
        new.on_conflict_do_update(
            index_elements=["organisation_id", "stack_id", "agent_id"],
            set_={**told, "instance_id": named},
        ).returning(legacy_agents)
    )
    row: Row = stored.one()
    return row


async def put_container(
    db: AsyncConnection, scope: TenantScope, sent: ContainerStatusReport, *, at: datetime
) -> Row | None:
    """None where a stack that is not deleted has a container of this id."""
    told = {"agent_id": sent.agent_id, "status": sent.status, "update_time": at}
    new = insert(legacy_containers).values(
        organisation_id=scope.organisation_id,
        container_id=sent.container_id,
        stack_id=sent.stack_id,
        instance_id=sent.instance_id or None,
        **told,
    )
    same = legacy_containers.c.stack_id == new.excluded.stack_id
    named = sa.case(
        (same, sa.func.coalesce(new.excluded.instance_id, legacy_containers.c.instance_id)),
        else_=new.excluded.instance_id,
    )
    left_behind = sa.exists().where(
        legacy_stacks.c.organisation_id == scope.organisation_id,
        legacy_stacks.c.stack_id == legacy_containers.c.stack_id,
        legacy_stacks.c.stack_status == StackStatus.DELETE_COMPLETE,
    )
    stored = await db.execute(
        new.on_conflict_do_update(
            index_elements=["organisation_id", "container_id"],
            set_={**told, "stack_id": new.excluded.stack_id, "instance_id": named},
            where=sa.or_(same, left_behind),
        ).returning(legacy_containers)
    )
    row: Row | None = stored.one_or_none()
    return row
