"""The caller and what they may do."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.vocabulary import Product, UserKind

basis = chosen("any-one-action")


@dataclass(frozen=True, slots=True)
class Caller:
    user_id: str
    username: str
    kind: UserKind
    root_user: str  # its own user_id for a root user
    client_id: str
    subject_type: str  # whom the token speaks for: "user", "client" or another of its product
    product: Product
    permissions: frozenset[str]
    scope: TenantScope
    epoch: int  # of the credentials
    flags: Mapping[str, bool] | None = None  # what a reseller is shown; None = not bound by any

    def may(self, role_actions: Collection[RoleAction]) -> bool:
        """Any one of the listed actions suffices, and Admin stands for all of them."""
        return (
            not role_actions
            or RoleAction.Admin in self.permissions
            or not self.permissions.isdisjoint(role_actions)
        )
