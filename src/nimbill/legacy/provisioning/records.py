"""Stored instances: what is wanted, what was launched, what is leaving."""

import sqlalchemy as sa

from nimbill.storage import metadata

legacy_instances = sa.Table(
    "legacy_instances",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, primary_key=True),
    sa.Column("instance_key", sa.Text, primary_key=True),
    sa.Column("flag", sa.Text, nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("provision", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("instance_id", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
