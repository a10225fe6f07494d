"""The authenticated caller of a request and its permissions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind

basis = chosen("any-one-action")


@dataclass(frozen=True, slots=True)
class Viewer:
    """The member of staff who sees the portal as a customer does, until the time."""

    user_id: str
    username: str
    expire_time: datetime


@dataclass(frozen=True, slots=True)
class Caller:
    user_id: str
    username: str
    kind: UserKind
    root_user: str  # its own user_id for a root user
    client_id: str
    subject_type: str  # who the token was issued to: "user", "client" or another of its product
    product: Product
    permissions: frozenset[str]
    scope: TenantScope
    epoch: int  # credential epoch: increases when credentials are revoked
    family_id: str | None = None  # of the refresh tokens that the access token was issued with
    flags: Mapping[str, bool] | None = None  # display flags of a reseller; None: no restriction
    viewer: Viewer | None = None  # of a view, which changes nothing; the caller is the customer

    @property
    def actor(self) -> tuple[str, str]:
        """The user_id and username of the person who acts, for the audit log."""
        if self.viewer is not None:
            return self.viewer.user_id, self.viewer.username
        return self.user_id, self.username

    def may(self, role_actions: Collection[RoleAction]) -> bool:
        """Return whether the caller has at least one of these actions, or Admin."""
        return (
            not role_actions
            or RoleAction.Admin in self.permissions
            or not self.permissions.isdisjoint(role_actions)
        )
