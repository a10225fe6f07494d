"""Stored roles of version 3 and the users who have them."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.storage import Scope, metadata

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


async def list_scopes_of_user(db: AsyncConnection, scope: Scope, user_id: str) -> Sequence[str]:
    """The scope documents of every role the user has."""
    question = (
        sa.select(legacy_roles.c.scope)
        .join_from(
            legacy_user_roles,
            legacy_roles,
            (legacy_roles.c.organisation_id == legacy_user_roles.c.organisation_id)
            & (legacy_roles.c.role_id == legacy_user_roles.c.role_id),
        )
        .where(
            legacy_user_roles.c.organisation_id == scope.organisation_id,
            legacy_user_roles.c.user_id == user_id,
        )
        .order_by(legacy_user_roles.c.create_time, legacy_user_roles.c.user_role_id)
    )
    return (await db.execute(question)).scalars().all()
