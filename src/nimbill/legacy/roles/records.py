"""Stored roles of version 3 and the users who have them."""

import sqlalchemy as sa

from nimbill.storage import metadata

legacy_roles = sa.Table(
    "legacy_roles",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("role_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

legacy_user_roles = sa.Table(
    "legacy_user_roles",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_role_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("role_id", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
