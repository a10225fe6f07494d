"""The route that describes the caller; paths are relative to /m/core."""

from nimbill.access.gate import Audience
from nimbill.access.role_actions import ANY_CALLER, PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.application.me_bodies import SignedInUser, VisibleGroup
from nimbill.customers.billing_groups.group_names import list_group_names
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.foundation.product import Product
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.identity.organisations.records import find_organisation


@get("/me", audiences=[Audience.core], role_actions=ANY_CALLER, basis=chosen("core-me"))
async def read_signed_in_user(caller: RequestCaller, db: Transaction) -> SignedInUser:
    """Show the caller: organisation, effective permissions and visible billing groups.

    `permissions` lists single role actions, also for Admin and the root user. `language` and
    `time_zone` are those of the organisation.
    """
    organisation = await find_organisation(db, caller.scope)
    if organisation is None:
        raise not_found()
    settings = await load_settings(db, caller.scope)
    is_admin = RoleAction.Admin in caller.permissions
    visible = caller.scope.billing_groups
    groups = [] if visible is None else await list_group_names(db, caller.scope, visible)
    return SignedInUser(
        user_id=caller.user_id,
        username=caller.username,
        kind=caller.kind,
        organisation_id=caller.scope.organisation_id,
        organisation_name=organisation.name,
        namespace=str(Product.core),
        permissions=[
            permission.value
            for permission in PERMISSIONS_BY_PRODUCT[Product.core]
            if is_admin or permission in caller.permissions
        ],
        billing_groups=None
        if visible is None
        else [VisibleGroup(**group._asdict()) for group in groups],
        language=settings.language,
        time_zone=settings.time_zone,
        vendors=settings.vendors,
    )


ROUTES = [read_signed_in_user]
