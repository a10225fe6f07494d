"""What a person may do and see: the sum of roles and filters, with the names of billing groups."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import BILLING_GROUPS, EffectivePermissions, load_filters
from nimbill.access.hooks import ListGroupNames
from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.database.tenant_scope import Row
from nimbill.foundation.product import Product
from nimbill.identity.rbac import records
from nimbill.identity.rbac.bodies import (
    EffectiveAccess,
    FilteredGroup,
    FilteringRule,
    Namespace,
    NamespaceAccess,
)
from nimbill.identity.users.operations import load_user_permissions


async def load_effective_access(
    db: AsyncConnection, caller: Caller, user: Row, list_group_names: ListGroupNames
) -> EffectiveAccess:
    """Sum up the roles and filters of a user; a restricted caller sees names of its groups only."""
    effective = await load_user_permissions(db, caller.scope, user)
    roles = await records.list_mapped_roles(db, caller.scope, user.user_id)
    filters = {} if effective.is_root else await load_filters(db, caller.scope, user.user_id)
    company_ids = filters.get(BILLING_GROUPS)
    names = await list_group_names(db, caller.scope, company_ids) if company_ids else []
    visible = {group.company_id for group in names}
    return EffectiveAccess(
        user_id=user.user_id,
        username=user.username,
        namespaces=[
            NamespaceAccess(
                namespace=namespace,
                roles=[role for role_namespace, role in roles if role_namespace == namespace],
                permissions=_expand_permissions(effective, namespace),
            )
            for namespace in (Namespace.core, Namespace.portal)
        ],
        billing_groups=None
        if company_ids is None
        else [FilteredGroup(**group._asdict()) for group in names],
        filters=[
            FilteringRule(
                namespace=Namespace(key[0]),
                type=key[1],
                resource=sorted(resources & visible if key == BILLING_GROUPS else resources),
            )
            for key, resources in sorted(filters.items())
        ],
    )


def _expand_permissions(effective: EffectivePermissions, namespace: Namespace) -> list[str]:
    """List single role actions; Admin and the root user have all that the namespace offers."""
    return [
        action.value
        for action in PERMISSIONS_BY_PRODUCT[Product(namespace)]
        if effective.includes(namespace, frozenset({RoleAction(action)}))
    ]
