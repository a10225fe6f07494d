"""Stored containers, each as it was last reported."""

import sqlalchemy as sa

from nimbill.storage import metadata

legacy_containers = sa.Table(
    "legacy_containers",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("container_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, nullable=False),
    sa.Column("agent_id", sa.Text, nullable=False),
    sa.Column("instance_id", sa.Text),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
