"""Stored agents, each as it last reported."""

import sqlalchemy as sa

from nimbill.storage import metadata

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
