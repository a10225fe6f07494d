"""The portal over HTTP; paths are relative to /m/portal."""

from nimbill.access.gate import Audience
from nimbill.access.role_actions import ANY_CALLER, OFFERED, RoleAction
from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.foundation.basis import chosen
from nimbill.foundation.vocabulary import Product
from nimbill.http.routing import CallerOfRequest, Transaction, get
from nimbill.portal.bodies import Company, Me


@get(
    "/me",
    audiences=[Audience.portal],
    role_actions=ANY_CALLER,
    flag=None,
    basis=chosen("portal-routes"),
)
async def who_am_i(caller: CallerOfRequest, db: Transaction) -> Me:
    """The caller's company, display flags and permissions."""
    company = None
    if caller.flags is not None:
        (group,) = await list_billing_groups(db, caller.scope)
        company = Company(
            company_id=group.company_id,
            billinggroup_id=group.billinggroup_id,
            billinggroup_name=group.billinggroup_name,
            name=group.name,
        )
    held = caller.permissions
    offered = OFFERED[Product.portal]
    permissions = offered if RoleAction.Admin in held else [one for one in offered if one in held]
    return Me(
        user_id=caller.user_id,
        username=caller.username,
        company=company,
        flags=None if caller.flags is None else dict(caller.flags),
        permissions=[permission.value for permission in permissions],
    )


ROUTES = [who_am_i]
