"""Operations on roles of version 3; only the master account may use them."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.errors import (
    Conflict,
    Invalid,
    Violation,
    not_found,
    refuse_if,
    rule_violations_error,
)
from nimbill.foundation.ids import new_id
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.users import records as users
from nimbill.legacy.roles import records
from nimbill.legacy.roles.bodies import LegacyRoleWrite
from nimbill.legacy.roles.role_scope_rules import SCOPE_BYTES_MAX, find_scope_violations

# See docs/choices.md, legacy-user-roles.

ROLES_PER_USER_MAX = 5

# See docs/choices.md, references-in-bodies.

_UNKNOWN_USER = Violation("username", "an existing user")
_UNKNOWN_ROLE = Violation("role_id", "an existing role")
_NOT_JSON = Violation("scope", "a role scope as JSON text")


async def create_legacy_role(db: AsyncConnection, caller: Caller, body: LegacyRoleWrite) -> str:
    """Stores the scope as sent. Names need not be unique."""
    refuse_if(_find_violations(body.scope))
    role_id = new_id("rol")
    await records.add_role(
        db,
        caller.scope,
        role_id=role_id,
        user_id=caller.user_id,
        name=body.name,
        document=body.scope,
        at=clock.now(),
    )
    return role_id


async def update_legacy_role(
    db: AsyncConnection, scope: TenantScope, role_id: str, body: LegacyRoleWrite
) -> None:
    """The new scope applies from the next request of each user who has the role."""
    refuse_if(_find_violations(body.scope))
    is_found = await records.update_role(
        db, scope, role_id, name=body.name, document=body.scope, at=clock.now()
    )
    if not is_found:
        raise not_found()


def _find_violations(document: str) -> list[Violation]:
    if len(document.encode()) > SCOPE_BYTES_MAX:
        return [Violation("scope", f"at most {SCOPE_BYTES_MAX >> 10} KiB")]
    try:
        return find_scope_violations(exact_json.decode(document.encode()))
    except Invalid:
        return [_NOT_JSON]


async def delete_legacy_role(db: AsyncConnection, scope: TenantScope, role_id: str) -> None:
    if not await records.delete_role(db, scope, role_id):
        raise not_found()


async def attach_legacy_role(
    db: AsyncConnection, scope: TenantScope, *, username: str, role_id: str
) -> str:
    """Attach one more role; attaching it again changes nothing."""
    user = await _lock_role_holder(db, scope, username)
    is_role = await records.lock_role(db, scope, role_id)
    if user is None or not is_role:
        unknown = {_UNKNOWN_USER: user is None, _UNKNOWN_ROLE: not is_role}
        raise rule_violations_error([each for each, is_unknown in unknown.items() if is_unknown])
    user_role_id = await _attach(db, scope, user_id=user.user_id, role_id=role_id)
    if len(await records.list_roles_of_user(db, scope, user.user_id)) > ROLES_PER_USER_MAX:
        raise Conflict("too_many_roles", f"A user can have at most {ROLES_PER_USER_MAX} roles.")
    return user_role_id


async def reattach_legacy_role(
    db: AsyncConnection, scope: TenantScope, *, username: str, role_id: str
) -> None:
    """Replace all roles of the user by this one."""
    user = await _lock_role_holder(db, scope, username)
    if user is None:
        raise rule_violations_error([_UNKNOWN_USER])
    if not await records.lock_role(db, scope, role_id):
        raise not_found()
    await _attach(db, scope, user_id=user.user_id, role_id=role_id)
    await records.detach_other_roles(db, scope, user_id=user.user_id, kept_role_id=role_id)


async def _attach(db: AsyncConnection, scope: TenantScope, *, user_id: str, role_id: str) -> str:
    return await records.attach_role(
        db, scope, user_role_id=new_id("uro"), user_id=user_id, role_id=role_id, at=clock.now()
    )


async def detach_legacy_role(
    db: AsyncConnection, scope: TenantScope, *, username: str, role_id: str
) -> None:
    user = await find_role_holder(db, scope, username)
    if not await records.detach_role(db, scope, user_id=user.user_id, role_id=role_id):
        raise not_found()


async def find_role_holder(db: AsyncConnection, scope: TenantScope, username: str) -> Row:
    user = await _find_role_holder(db, scope, username)
    if user is None:
        raise not_found()
    return user


async def _find_role_holder(db: AsyncConnection, scope: TenantScope, username: str) -> Row | None:
    """Resellers and their subusers are not found: they have no access to version 3."""
    user = await users.find_user_by_name(db, scope, username)
    return user if user is not None and user.kind in (UserKind.root, UserKind.subuser) else None


async def _lock_role_holder(db: AsyncConnection, scope: TenantScope, username: str) -> Row | None:
    """Lock the user, so that concurrent requests cannot exceed the limit of roles."""
    user = await _find_role_holder(db, scope, username)
    if user is None:
        return None
    if user.kind == UserKind.root:
        raise Conflict("master_account", "The master account cannot have roles.")
    return await users.lock_user(db, scope, user.user_id)
