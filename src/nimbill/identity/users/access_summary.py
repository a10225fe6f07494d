"""The roles of the people on one page of the list, and how many billing groups they see."""

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import BILLING_GROUPS, role_filters, role_mappings
from nimbill.database.tenant_scope import is_any_of, of_tenant
from nimbill.identity.users.bodies import Subuser

# See docs/choices.md, list-details.


async def add_access(
    db: AsyncConnection, caller: Caller, subusers: Sequence[Subuser]
) -> list[Subuser]:
    """Two queries for any number of people. A restricted caller counts only its own groups."""
    user_ids = [subuser.user_id for subuser in subusers]
    roles = await _load_roles(db, caller, user_ids)
    counts = await _count_groups(db, caller, user_ids)
    return [
        replace(
            subuser,
            roles=roles[subuser.user_id],
            billing_group_count=counts.get(subuser.user_id),
        )
        for subuser in subusers
    ]


async def _load_roles(
    db: AsyncConnection, caller: Caller, user_ids: Sequence[str]
) -> dict[str, list[str]]:
    mappings, scope = role_mappings.c, caller.scope
    stmt = (
        sa.select(mappings.user_id, mappings.role)
        .where(
            of_tenant(role_mappings, scope),
            mappings.namespace == caller.product,
            is_any_of(mappings.user_id, user_ids),
        )
        .order_by(mappings.role.collate("C"))
    )
    roles: dict[str, list[str]] = defaultdict(list)
    for row in await db.execute(stmt):
        roles[row.user_id].append(row.role)
    return roles


async def _count_groups(
    db: AsyncConnection, caller: Caller, user_ids: Sequence[str]
) -> dict[str, int]:
    """People without a filter are missing: they see every group."""
    filters, (namespace, type_) = role_filters.c, BILLING_GROUPS
    scope, visible = caller.scope, caller.scope.billing_groups
    is_counted = sa.true() if visible is None else is_any_of(filters.resource, visible)
    stmt = (
        sa.select(filters.user_id, sa.func.count().filter(is_counted).label("groups"))
        .where(
            of_tenant(role_filters, scope),
            filters.namespace == namespace,
            filters.type == type_,
            is_any_of(filters.user_id, user_ids),
        )
        .group_by(filters.user_id)
    )
    return {row.user_id: row.groups for row in await db.execute(stmt)}
