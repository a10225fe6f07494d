"""Begin and end staff views."""

from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.request_context import Resources
from nimbill.access.tokens import VIEW
from nimbill.customers.billing_groups.operations import require_company_id
from nimbill.customers.resellers.records import list_resellers
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.portal.staff_views import records
from nimbill.portal.staff_views.bodies import StaffView, StaffViewStart

VIEW_LIFETIME = timedelta(minutes=15)


async def begin_view(
    db: AsyncConnection, caller: Caller, resources: Resources, body: StaffViewStart
) -> StaffView:
    """Store a view of the customer's account and issue its token."""
    await require_company_id(db, caller.scope, body.company_id)
    account = await _require_account(db, caller.scope, body)
    await resources.use_active_key(db, Product.portal)
    view_id, at = new_id("view"), clock.now()
    token, seconds = resources.tokens.issue(
        Product.portal,
        organisation_id=caller.scope.organisation_id,
        user_id=caller.user_id,
        client_id=view_id,
        epoch=caller.epoch,
        subject_type=VIEW,
        seconds_max=int(VIEW_LIFETIME.total_seconds()),
    )
    expire_time = at + timedelta(seconds=seconds)
    await records.add_view(
        db,
        caller.scope,
        caller,
        view_id=view_id,
        account_id=account.user_id,
        at=at,
        expire_time=expire_time,
    )
    return StaffView(
        view_id=view_id,
        company_id=body.company_id,
        user_id=account.user_id,
        email=account.email,
        access_token=token,
        expires_in=seconds,
        expire_time=clock.format_timestamp(expire_time),
    )


async def end_view(db: AsyncConnection, caller: Caller, view_id: str) -> None:
    """End a view of the person who asks; its token is refused at once."""
    actor, _ = caller.actor
    if not await records.delete_view(db, caller.scope, actor, view_id):
        raise not_found()


async def _require_account(db: AsyncConnection, scope: TenantScope, body: StaffViewStart) -> Row:
    """Return the named account of the company, or its oldest one."""
    company = TenantScope(scope.organisation_id, frozenset({body.company_id}))
    accounts = (await list_resellers(db, company)).rows
    if not accounts:
        raise Conflict(
            "no_portal_login",
            "This customer has no reseller account, so there is no portal to see. "
            "Create one with POST /m/core/reseller first.",
        )
    named = [account for account in accounts if body.user_id in (None, account.user_id)]
    if not named:
        refuse_if([Violation("user_id", "a reseller account of this company")])
    return named[0]
