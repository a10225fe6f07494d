"""Permissions of version 3: what a route requires, and what the roles of a user allow."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.errors import NotPermitted
from nimbill.foundation.user_kind import UserKind
from nimbill.legacy.roles.legacy_rights import load_scope_documents
from nimbill.legacy.roles.role_scope import RoleScope, allows, parse_scope

# See docs/choices.md, master-account.


@dataclass(frozen=True, slots=True)
class ScopeRequirement:
    """The permission that a route requires; `resource` may contain path parameters in braces.

    If `resource` is None, the route finds its records in the database or the body. The guard then
    requires the action for any resource, and the route checks the permission for each record.
    """

    action: str
    resource: str | None = None


@dataclass(frozen=True, slots=True)
class NoScopeRequired:
    """The route is open to all users; `reason` says why that is right."""

    reason: str


@dataclass(frozen=True, slots=True)
class Permission:
    """What one caller may do, loaded once per request."""

    is_master: bool
    scopes: Sequence[RoleScope]

    def allows(self, action: str, resource: str) -> bool:
        return self.is_master or allows(self.scopes, action, resource)

    def allows_anywhere(self, action: str) -> bool:
        """Whether the action is allowed for any resource."""
        return self.is_master or any(scope.allows_anywhere(action) for scope in self.scopes)

    def require(self, action: str, resource: str) -> None:
        """Refuse in the same way whether or not the record exists."""
        if not self.allows(action, resource):
            raise scope_denied()

    def require_anywhere(self, action: str) -> None:
        if not self.allows_anywhere(action):
            raise scope_denied()


def is_master_account(caller: Caller) -> bool:
    """Whether the caller is the root user, logged in with a password and not by an API client."""
    return caller.kind is UserKind.root and caller.subject_type == "user"


async def load_permission(db: AsyncConnection, caller: Caller) -> Permission:
    """The master account may do everything, other users what their roles together allow.

    API clients and agents have no roles and may do nothing.
    """
    if caller.subject_type != "user":
        return Permission(is_master=False, scopes=())
    return await load_permission_of_user(db, caller)


async def load_permission_of_user(db: AsyncConnection, caller: Caller) -> Permission:
    """What the user may do for whom the caller, possibly an API client, acts."""
    if caller.kind is UserKind.root:
        return Permission(is_master=True, scopes=())
    documents = await load_scope_documents(db, caller.scope, caller.user_id)
    return Permission(is_master=False, scopes=[parse_scope(document) for document in documents])


def scope_denied() -> NotPermitted:
    return NotPermitted("scope_denied", "The roles of this user do not allow this action.")


def require_master_account(caller: Caller) -> None:
    """No scope can grant what is reserved for the master account."""
    if not is_master_account(caller):
        raise NotPermitted("master_account_alone", "Only the master account may do this.")
