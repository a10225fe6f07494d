"""The names of billing groups, for lists that show which groups a person may see."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.hooks import GroupName
from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import TenantScope, is_any_of


async def list_group_names(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str]
) -> list[GroupName]:
    """Name those of these groups that the caller may see, in the order of billinggroup_id."""
    stmt = (
        sa.select(
            billing_groups.c.company_id,
            billing_groups.c.billinggroup_id,
            billing_groups.c.billinggroup_name,
        )
        .where(*filter_visible_groups(scope), is_any_of(billing_groups.c.company_id, company_ids))
        .order_by(billing_groups.c.billinggroup_id)
    )
    return [GroupName(*row) for row in await db.execute(stmt)]
