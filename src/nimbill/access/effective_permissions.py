"""The effective permissions and filters of a user, and whether they cover those of another."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, metadata, of_tenant

# See docs/choices.md, no-privilege-escalation.

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

# This filter applies to the tokens of both products, see the database function load_caller.
BILLING_GROUPS: FilterKey = ("core", "billingGroup")


@dataclass(frozen=True, slots=True)
class EffectivePermissions:
    """Permissions by namespace; filters by namespace and type. No filter means no restriction."""

    permissions: Mapping[str, frozenset[str]]
    filters: Mapping[FilterKey, frozenset[str]]
    is_root: bool = False

    def includes(self, namespace: str, permissions: frozenset[str]) -> bool:
        """Return whether all of these are granted. Admin grants all of its namespace."""
        granted = self.permissions.get(namespace, frozenset())
        return self.is_root or RoleAction.Admin in granted or permissions <= granted

    def covers_filters(self, namespace: str, filters: Mapping[FilterKey, frozenset[str]]) -> bool:
        """Return whether these filters allow nothing outside the user's own filters."""
        return self.is_root or all(
            bool(filters.get(key)) and filters[key] <= own
            for key, own in self.filters.items()
            if key[0] == namespace or key == BILLING_GROUPS
        )

    def covers(self, other: "EffectivePermissions") -> bool:
        """Return whether the other user can do nothing that this one cannot."""
        if self.is_root or other.is_root:
            return self.is_root
        return all(
            self.includes(namespace, permissions) and self.covers_filters(namespace, other.filters)
            for namespace, permissions in other.permissions.items()
            if permissions
        )


ROOT = EffectivePermissions({}, {}, is_root=True)
# A reseller account has all permissions of the portal; display flags restrict its routes.
RESELLER = EffectivePermissions({"portal": frozenset({"Admin"})}, {})


async def load_effective_permissions(
    db: AsyncConnection, scope: TenantScope, user_id: str
) -> EffectivePermissions:
    """Load the permissions of all roles of a subuser, in every namespace."""
    permissions: dict[str, frozenset[str]] = {}
    stmt = (
        sa.select(roles.c.namespace, roles.c.permissions)
        .join_from(
            role_mappings,
            roles,
            (roles.c.organisation_id == role_mappings.c.organisation_id)
            & (roles.c.root_user == role_mappings.c.root_user)
            & (roles.c.namespace == role_mappings.c.namespace)
            & (roles.c.name == role_mappings.c.role),
        )
        .where(of_tenant(role_mappings, scope), role_mappings.c.user_id == user_id)
    )
    for row in await db.execute(stmt):
        granted = permissions.get(row.namespace, frozenset())
        permissions[row.namespace] = granted | frozenset(row.permissions)
    return EffectivePermissions(permissions, await load_filters(db, scope, user_id))


async def load_filters(
    db: AsyncConnection, scope: TenantScope, user_id: str
) -> dict[FilterKey, frozenset[str]]:
    stmt = sa.select(role_filters).where(
        of_tenant(role_filters, scope), role_filters.c.user_id == user_id
    )
    filters: dict[FilterKey, frozenset[str]] = {}
    for row in await db.execute(stmt):
        key = (row.namespace, row.type)
        filters[key] = filters.get(key, frozenset()) | {row.resource}
    return filters
