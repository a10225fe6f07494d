"""What a user of version 3 may do: the scopes of its roles, asked by every route."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import NotPermitted
from nimbill.foundation.vocabulary import UserKind
from nimbill.legacy.roles import records
from nimbill.legacy.roles.role_templates import WITHOUT_A_ROLE
from nimbill.legacy.roles.scope import RoleScope, allows, prepared

basis = stated("Authentication")
master_basis = chosen("master-account")


@dataclass(frozen=True, slots=True)
class Needs:
    """What a route needs, declared beside its path; `resource` may name path parameters.

    Where it is None the records are not known before the route has read its list or its body: the
    caller passes if an Allow names the action at all, and the route asks for each record.
    """

    action: str
    resource: str | None = None


@dataclass(frozen=True, slots=True)
class Unscoped:
    """No scope is asked, and why that is right."""

    reason: str


@dataclass(frozen=True, slots=True)
class Permission:
    """Of one caller, for one request."""

    is_master: bool
    scopes: Sequence[RoleScope]

    def allows(self, action: str, resource: str) -> bool:
        return self.is_master or allows(self.scopes, action, resource)

    def allows_somewhere(self, action: str) -> bool:
        """Whether the action is worth asking about: some Allow names it."""
        return self.is_master or any(one.allows_somewhere(action) for one in self.scopes)

    def refuse_unless(self, action: str, resource: str) -> None:
        """The same refusal whether or not there is such a record."""
        if not self.allows(action, resource):
            raise denied()

    def refuse_unless_somewhere(self, action: str) -> None:
        if not self.allows_somewhere(action):
            raise denied()


def is_master_account(caller: Caller) -> bool:
    """The root user itself, logged in with a password; no API client and no agent."""
    return caller.kind is UserKind.root and caller.subject_type == "user"


async def permitted(db: AsyncConnection, caller: Caller) -> Permission:
    """The master account may do everything; others what all of their roles say together.

    Only a user has roles. Clients and agents have no scope at all, so nothing is allowed to them.
    """
    if is_master_account(caller):
        return Permission(is_master=True, scopes=())
    if caller.subject_type != "user":
        return Permission(is_master=False, scopes=())
    roles = await records.list_roles_of_user(db, caller.scope, caller.user_id)
    scopes = [prepared(scope) for scope in [role.scope for role in roles] or [WITHOUT_A_ROLE]]
    return Permission(is_master=False, scopes=scopes)


def denied() -> NotPermitted:
    return NotPermitted("scope_denied", "the roles of this user do not allow it")


def refuse_unless_master(caller: Caller) -> None:
    """Before any scope is asked: nothing a scope says opens what is the master account's alone."""
    if not is_master_account(caller):
        raise NotPermitted("master_account_alone", "only the master account may do this")
