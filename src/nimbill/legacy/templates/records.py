"""Stored versions of templates: the body without its secrets, and the secrets sealed."""

import sqlalchemy as sa

from nimbill.storage import metadata

legacy_template_versions = sa.Table(
    "legacy_template_versions",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("stack_id", sa.Text, primary_key=True),
    sa.Column("version_id", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("sealed_secrets", sa.LargeBinary),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)
