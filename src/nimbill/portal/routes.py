"""HTTP routes of the portal; paths are relative to /m/portal."""

from nimbill.access.caller import Caller
from nimbill.access.gate import Audience
from nimbill.access.role_actions import ANY_CALLER, PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.costs.lake.records import find_newest_month
from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.customers.portal_branding.operations import load_branding
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.product import Product
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.portal.bodies import Company, Me, View
from nimbill.portal.view import has_portal_filters


@get(
    "/me",
    audiences=[Audience.portal],
    role_actions=ANY_CALLER,
    flag=None,
    basis=chosen("portal-routes"),
)
async def who_am_i(caller: RequestCaller, db: Transaction) -> Me:
    """Show the company, display flags and permissions of the caller."""
    settings = await load_settings(db, caller.scope)
    company, language = None, settings.language
    if caller.flags is not None:
        (group,) = await list_billing_groups(db, caller.scope)
        company = Company(
            company_id=group.company_id,
            billinggroup_id=group.billinggroup_id,
            billinggroup_name=group.billinggroup_name,
            name=group.name,
        )
        language = group.language or language
    is_admin = RoleAction.Admin in caller.permissions
    return Me(
        user_id=caller.user_id,
        username=caller.username,
        company=company,
        flags=None if caller.flags is None else dict(caller.flags),
        permissions=[
            permission.value
            for permission in PERMISSIONS_BY_PRODUCT[Product.portal]
            if is_admin or permission in caller.permissions
        ],
        language=language,
        report_tag_keys=list(settings.report_tag_keys),
        newest_month=await find_newest_month(db, caller.scope),
        filtered=await has_portal_filters(db, caller),
        view=_describe_view(caller),
        branding=await load_branding(db, caller.scope, settings),
    )


def _describe_view(caller: Caller) -> View | None:
    if caller.viewer is None:
        return None
    return View(
        view_id=caller.client_id,
        viewer=caller.viewer.username,
        expire_time=clock.format_timestamp(caller.viewer.expire_time),
    )


ROUTES = [who_am_i]
