"""Refuses to execute an operation whose requester may not do it any more."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.effective_permissions import BILLING_GROUPS, load_effective_permissions
from nimbill.approvals.approvable_operation import ApprovableOperation
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.users.records import find_user

basis = chosen("approvals")


async def refuse_lost_permission(
    db: AsyncConnection, scope: TenantScope, row: Row, operation: ApprovableOperation
) -> None:
    """The operation is executed for its requester, who may have lost permissions since."""
    user = await find_user(db, scope, row.requested_by)
    if user is not None and user.kind == UserKind.root:
        return
    if user is not None:
        effective = await load_effective_permissions(db, scope, user.user_id)
        has_action = any(
            effective.includes(Product.core, frozenset({action}))
            for action in operation.role_actions
        )
        groups = effective.filters.get(BILLING_GROUPS)
        sees_groups = groups is None or (
            row.company_ids is not None and groups.issuperset(row.company_ids)
        )
        if has_action and sees_groups:
            return
    raise Conflict(
        "requester_not_permitted",
        "The requester may not do this any more. Reject the request.",
    )
