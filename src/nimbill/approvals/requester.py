"""What the requester of an operation may do and see when it is executed."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.effective_permissions import BILLING_GROUPS, load_effective_permissions
from nimbill.approvals.approvable_operation import ApprovableOperation
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Conflict
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.users.records import find_user


async def load_requester_scope(
    db: AsyncConnection, scope: TenantScope, row: Row, operation: ApprovableOperation
) -> TenantScope:
    """Return what the requester sees, for whom the operation is executed.

    Refuse if the requester has lost the permission since. The approver may see less: somebody
    restricted to billing groups sees no imports, but can approve a credit note for late costs.
    """
    user = await find_user(db, scope, row.requested_by)
    if user is not None and user.kind == UserKind.root:
        return TenantScope(scope.organisation_id)
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
            return TenantScope(scope.organisation_id, groups)
    raise Conflict(
        "requester_not_permitted",
        "The requester may not do this any more. Reject the request.",
    )
