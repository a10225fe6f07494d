"""HTTP routes of the portal; paths are relative to /m/portal."""

from nimbill.access.gate import Audience
from nimbill.access.role_actions import ANY_CALLER, PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.foundation.basis import chosen
from nimbill.foundation.product import Product
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.portal.bodies import Company, Me


@get(
    "/me",
    audiences=[Audience.portal],
    role_actions=ANY_CALLER,
    flag=None,
    basis=chosen("portal-routes"),
)
async def who_am_i(caller: RequestCaller, db: Transaction) -> Me:
    """Show the company, display flags and permissions of the caller."""
    company = None
    if caller.flags is not None:
        (group,) = await list_billing_groups(db, caller.scope)
        company = Company(
            company_id=group.company_id,
            billinggroup_id=group.billinggroup_id,
            billinggroup_name=group.billinggroup_name,
            name=group.name,
        )
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
    )


ROUTES = [who_am_i]
