"""Queries that decide whether approval is required, and whether it can be."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.effective_permissions import role_mappings, roles
from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, of_tenant
from nimbill.foundation.product import Product

# A column of the organisation settings, which a package above this one writes.
_settings = sa.table(
    "organisation_settings",
    sa.column("organisation_id", sa.Text),
    sa.column("approval_required", ARRAY(sa.Text)),
)


async def load_required_kinds(db: AsyncConnection, scope: TenantScope) -> frozenset[str]:
    stmt = sa.select(_settings.c.approval_required).where(of_tenant(_settings, scope))
    return frozenset((await db.execute(stmt)).scalar_one_or_none() or ())


async def count_approvers(db: AsyncConnection, scope: TenantScope) -> int:
    """Count the root user and the subusers with a role that allows approving."""
    stmt = (
        sa.select(sa.func.count(role_mappings.c.user_id.distinct()))
        .join_from(
            role_mappings,
            roles,
            (roles.c.organisation_id == role_mappings.c.organisation_id)
            & (roles.c.root_user == role_mappings.c.root_user)
            & (roles.c.namespace == role_mappings.c.namespace)
            & (roles.c.name == role_mappings.c.role),
        )
        .where(
            of_tenant(role_mappings, scope),
            role_mappings.c.namespace == Product.core,
            roles.c.permissions.overlap([RoleAction.Admin, RoleAction.ApproveRequests]),
        )
    )
    return 1 + int((await db.execute(stmt)).scalar_one())
