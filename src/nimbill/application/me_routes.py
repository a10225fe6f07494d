"""The route that describes the caller, and its body; paths are relative to /m/core."""

from typing import ClassVar

from nimbill.access.gate import Audience
from nimbill.access.role_actions import ANY_CALLER, PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.customers.billing_groups.group_names import list_group_names
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import not_found
from nimbill.foundation.language import Language
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.http.request_bodies import Body
from nimbill.http.routing import RequestCaller, Transaction, get
from nimbill.identity.organisations.records import find_organisation


class VisibleGroup(Body, frozen=True, kw_only=True):
    """A billing group to which the caller is restricted."""

    basis: ClassVar[Basis] = chosen("core-me")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str


class SignedInUser(Body, frozen=True, kw_only=True):
    """The caller. `billing_groups` is null without a filter: then every group is visible."""

    basis: ClassVar[Basis] = chosen("core-me")

    user_id: str
    username: str
    kind: UserKind
    organisation_id: str
    organisation_name: str
    namespace: str
    permissions: list[str]
    billing_groups: list[VisibleGroup] | None
    language: Language
    time_zone: str
    vendors: list[str]


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
