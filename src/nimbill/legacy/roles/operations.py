"""What may be done with roles of version 3; every bit of it is the master account's alone."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, Invalid, Violation, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import UserKind
from nimbill.identity.users import records as users
from nimbill.legacy.roles import records
from nimbill.legacy.roles.bodies import LegacyRoleWrite
from nimbill.legacy.roles.role_scope_rules import SCOPE_BYTES_MAX, violations

basis = chosen("legacy-user-roles")

ROLES_PER_USER_MAX = 5

_MALFORMED = Violation("scope", "a role scope as JSON text")


async def create_legacy_role(db: AsyncConnection, caller: Caller, body: LegacyRoleWrite) -> str:
    """The scope is kept as it was sent; two roles may have the same name."""
    refuse_if(_broken_rules(body.scope))
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
    """Whoever has the role is bound by the new scope from the next request on."""
    refuse_if(_broken_rules(body.scope))
    changed = await records.put_role(
        db, scope, role_id, name=body.name, document=body.scope, at=clock.now()
    )
    if not changed:
        raise not_found()


def _broken_rules(document: str) -> list[Violation]:
    if len(document.encode()) > SCOPE_BYTES_MAX:
        return [Violation("scope", f"at most {SCOPE_BYTES_MAX >> 10} KiB")]
    try:
        return violations(exact_json.read(document.encode()))
    except Invalid:
        return [_MALFORMED]


async def delete_legacy_role(db: AsyncConnection, scope: TenantScope, role_id: str) -> None:
    if not await records.delete_role(db, scope, role_id):
        raise not_found()


async def attach_legacy_role(
    db: AsyncConnection, scope: TenantScope, *, username: str, role_id: str
) -> str:
    """One role more for the user; asked twice, it is attached once."""
    user = await _user_to_bind(db, scope, username)
    user_role_id = await _attached(db, scope, user_id=user.user_id, role_id=role_id)
    if len(await records.list_roles_of_user(db, scope, user.user_id)) > ROLES_PER_USER_MAX:
        raise Conflict("too_many_roles", f"a user has at most {ROLES_PER_USER_MAX} roles")
    return user_role_id


async def reattach_legacy_role(
    db: AsyncConnection, scope: TenantScope, *, username: str, role_id: str
) -> None:
    """This role in the place of all the user had."""
    user = await _user_to_bind(db, scope, username)
    await _attached(db, scope, user_id=user.user_id, role_id=role_id)
    await records.take_other_roles(db, scope, user_id=user.user_id, but_role_id=role_id)


async def _attached(db: AsyncConnection, scope: TenantScope, *, user_id: str, role_id: str) -> str:
    if not await records.lock_role(db, scope, role_id):
        raise not_found()
    return await records.put_user_role(
        db, scope, user_role_id=new_id("uro"), user_id=user_id, role_id=role_id, at=clock.now()
    )


async def detach_legacy_role(
    db: AsyncConnection, scope: TenantScope, *, username: str, role_id: str
) -> None:
    user = await user_with_roles(db, scope, username)
    if not await records.take_role(db, scope, user_id=user.user_id, role_id=role_id):
        raise not_found()


async def user_with_roles(db: AsyncConnection, scope: TenantScope, username: str) -> Row:
    """By name, within the organisation. A reseller and its people never come here: not found."""
    user = await users.find_user_by_name(db, scope, username)
    if user is None or user.kind not in (UserKind.root, UserKind.subuser):
        raise not_found()
    return user


async def _user_to_bind(db: AsyncConnection, scope: TenantScope, username: str) -> Row:
    """Held until the end, so that two who attach at once count each other's."""
    user = await user_with_roles(db, scope, username)
    if user.kind == UserKind.root:
        raise Conflict("master_account", "no role binds the master account")
    if await users.lock_user(db, scope, user.user_id) is None:
        raise not_found()
    return user
