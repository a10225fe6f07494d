"""The caller behind the token of a staff view: the customer, as the member of staff sees it."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller, Viewer
from nimbill.access.credentials import load_caller_again
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import Claims
from nimbill.database.tenant_scope import TenantScope, set_tenant
from nimbill.foundation import clock
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.portal.staff_views import records

# Whoever may set a customer's password could sign in as the customer anyway.
VIEW_ACTIONS = (RoleAction.ModifyReseller,)


async def load_viewed_customer(db: AsyncConnection, claims: Claims) -> Caller | None:
    """Return the reseller account of the view, with its flags.

    None if the view has ended, or if the member of staff has lost the login that the view began
    from, the permission, or the sight of the company.
    """
    scope = TenantScope(claims.organisation_id)
    await set_tenant(db, scope.organisation_id)
    view = await records.find_view(
        db,
        scope,
        view_id=claims.client_id,
        user_id=claims.user_id,
        at=clock.now(),
        kid=claims.kid,
        product=claims.product,
    )
    if view is None:
        return None
    viewer = await load_caller_again(
        db,
        Product.core,
        organisation_id=scope.organisation_id,
        user_id=claims.user_id,
        client_id=view.client_id,
        family_id=view.family_id,
        epoch=view.credential_epoch,
    )
    if viewer is None or not may_view(viewer, view.company_id):
        return None
    return Caller(
        user_id=view.account_id,
        username=view.username,
        kind=UserKind.reseller,
        root_user=view.account_id,
        client_id=claims.client_id,
        subject_type=claims.subject_type,
        product=claims.product,
        permissions=frozenset({RoleAction.Admin}),
        scope=TenantScope(scope.organisation_id, frozenset({view.company_id})),
        epoch=claims.epoch,
        flags=view.meta,
        viewer=Viewer(viewer.user_id, viewer.username, view.expire_time),
    )


def may_view(viewer: Caller, company_id: str) -> bool:
    """Return whether the member of staff manages the reseller accounts of the company."""
    visible = viewer.scope.billing_groups
    return viewer.may(VIEW_ACTIONS) and (visible is None or company_id in visible)
