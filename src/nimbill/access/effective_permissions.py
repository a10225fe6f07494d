"""What somebody holds: permissions and filters, and whether that covers what another holds."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, metadata
from nimbill.foundation.basis import chosen

basis = chosen("no-privilege-escalation")

roles = sa.Table(
    "roles",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("root_user", sa.Text, primary_key=True),
    sa.Column("namespace", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("permissions", ARRAY(sa.Text), nullable=False),
)

role_mappings = sa.Table(
    "role_mappings",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("root_user", sa.Text, nullable=False),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("namespace", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, primary_key=True),
)

role_filters = sa.Table(
    "role_filters",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("namespace", sa.Text, primary_key=True),
    sa.Column("type", sa.Text, primary_key=True),
    sa.Column("resource", sa.Text, primary_key=True),
)

FilterKey = tuple[str, str]  # namespace, type

# narrows what is seen with a token of either product, see the query in front of every request
BILLING_GROUPS: FilterKey = ("core", "billingGroup")


@dataclass(frozen=True, slots=True)
class EffectivePermissions:
    """Permissions by namespace; filters by namespace and type, where none means everything."""

    permissions: Mapping[str, frozenset[str]]
    filters: Mapping[FilterKey, frozenset[str]]
    is_root: bool = False

    def allow(self, namespace: str, permissions: frozenset[str]) -> bool:
        """Whether every one of these is held; Admin holds all of its namespace."""
        held = self.permissions.get(namespace, frozenset())
        return self.is_root or RoleAction.Admin in held or permissions <= held

    def reach(self, namespace: str, filters: Mapping[FilterKey, frozenset[str]]) -> bool:
        """Whether filters stay inside one's own, wherever one is filtered oneself."""
        return self.is_root or all(
            bool(filters.get(key)) and filters[key] <= own
            for key, own in self.filters.items()
            if key[0] == namespace or key == BILLING_GROUPS
        )

    def cover(self, other: "EffectivePermissions") -> bool:
        """Whether the other can do nothing that this one cannot."""
        if self.is_root or other.is_root:
            return self.is_root
        return all(
            self.allow(namespace, held) and self.reach(namespace, other.filters)
            for namespace, held in other.permissions.items()
            if held
        )


ROOT = EffectivePermissions({}, {}, is_root=True)
# a reseller account holds all of the portal, and its display flags bind what it reaches
RESELLER = EffectivePermissions({"portal": frozenset({"Admin"})}, {})


async def load_effective_permissions(
    db: AsyncConnection, scope: TenantScope, user_id: str
) -> EffectivePermissions:
    """What a subuser holds by all of its roles, in every namespace."""
    permissions: dict[str, frozenset[str]] = {}
    held = (
        sa.select(roles.c.namespace, roles.c.permissions)
        .join_from(
            role_mappings,
            roles,
            (roles.c.organisation_id == role_mappings.c.organisation_id)
            & (roles.c.root_user == role_mappings.c.root_user)
            & (roles.c.namespace == role_mappings.c.namespace)
            & (roles.c.name == role_mappings.c.role),
        )
        .where(
            role_mappings.c.organisation_id == scope.organisation_id,
            role_mappings.c.user_id == user_id,
        )
    )
    for row in await db.execute(held):
        before = permissions.get(row.namespace, frozenset())
        permissions[row.namespace] = before | frozenset(row.permissions)
    return EffectivePermissions(permissions, await filters_of(db, scope, user_id))


async def filters_of(
    db: AsyncConnection, scope: TenantScope, user_id: str
) -> dict[FilterKey, frozenset[str]]:
    question = sa.select(role_filters).where(
        role_filters.c.organisation_id == scope.organisation_id,
        role_filters.c.user_id == user_id,
    )
    filters: dict[FilterKey, frozenset[str]] = {}
    for row in await db.execute(question):
        key = (row.namespace, row.type)
        filters[key] = filters.get(key, frozenset()) | {row.resource}
    return filters
