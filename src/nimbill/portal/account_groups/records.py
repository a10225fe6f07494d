"""Tables of the account groups, and the queries on them."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, is_any_of, metadata

account_groups = sa.Table(
    "account_groups",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("group_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

account_group_members = sa.Table(
    "account_group_members",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("group_id", sa.Text, primary_key=True),
    sa.Column("customer_id", sa.Text, primary_key=True),
)


async def list_member_accounts(
    db: AsyncConnection, scope: TenantScope, group_ids: Collection[str]
) -> frozenset[str]:
    """Return the customer_ids that are in at least one of the groups."""
    members = account_group_members.c
    stmt = sa.select(members.customer_id).where(
        members.organisation_id == scope.organisation_id,
        is_any_of(members.group_id, group_ids),
    )
    return frozenset((await db.execute(stmt)).scalars())
