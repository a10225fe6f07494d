"""Response bodies of the route that describes the caller."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.language import Language
from nimbill.foundation.user_kind import UserKind
from nimbill.http.request_bodies import Body


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
