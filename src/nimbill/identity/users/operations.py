"""What may be done with users and their API clients."""

import time
from dataclasses import dataclass

from limits import RateLimitItemPerMinute
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import (
    RESELLER,
    ROOT,
    EffectivePermissions,
    load_effective_permissions,
)
from nimbill.access.passwords import (
    generate_client_secret,
    hash_client_secret,
    hash_password,
    password_matches,
)
from nimbill.access.request_context import Resources
from nimbill.database.tenant_lookup import LookupKind, add_lookup, remove_lookup
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, Invalid, NotPermitted, TooMany, Violation, not_found
from nimbill.foundation.ids import new_id
from nimbill.foundation.vocabulary import UserKind
from nimbill.identity.users import records
from nimbill.identity.users.bodies import PasswordChange, SubuserCreate, TrueOrFalse

# whose subusers are of which kind; a subuser's are of its own
_SUBUSER_OF = {
    UserKind.root: UserKind.subuser,
    UserKind.reseller: UserKind.reseller_subuser,
}
OLD_PASSWORDS_MAX = RateLimitItemPerMinute(10, 15)  # wrong ones in fifteen minutes


@dataclass(frozen=True, slots=True)
class NewClient:
    client_id: str
    client_secret: str  # shown once, stored as a hash
    create_time_ns: int


async def create_subuser(
    db: AsyncConnection, caller: Caller, sealer: Encryptor, body: SubuserCreate
) -> Row:
    """Store the subuser, who may do nothing yet; refuse a name or address already in use."""
    taken = await records.taken_names(db, caller.scope, username=body.username, email=body.email)
    if "username" in taken:
        raise Conflict("username_taken", "this username is already in use")
    if "email" in taken:
        raise Conflict("email_taken", "this e-mail address is already in use")
    return await records.add_user(
        db,
        caller.scope,
        user_id=new_id("usr"),
        root_user=caller.root_user,
        kind=_SUBUSER_OF.get(caller.kind, caller.kind),
        username=body.username,
        email=body.email,
        notification_email=body.notification.email is TrueOrFalse.true,
        password_hash=await hash_password(body.password, sealer),
    )


async def delete_subuser(db: AsyncConnection, caller: Caller, user_id: str) -> None:
    """Clients, mappings and tokens go with the user; the audit log keeps the name."""
    user = await records.lock_user(db, caller.scope, user_id, to_delete=True)
    if user is None or user.root_user != caller.root_user:
        raise not_found()
    await refuse_over_oneself(db, caller, user)
    if user.user_id == user.root_user:
        raise Conflict("root_user", "the root user cannot be deleted")
    await delete_user_and_clients(db, caller.scope, user_id)


async def delete_user_and_clients(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    for client in await records.list_api_clients(db, scope, user_id):
        await remove_lookup(db, scope, LookupKind.api_client, client.client_id)
    await records.delete_user(db, scope, user_id)


async def change_password(
    db: AsyncConnection, caller: Caller, resources: Resources, user_id: str, body: PasswordChange
) -> None:
    """Oneself with the old password; somebody else's only where one holds all he holds."""
    user = await records.find_user(db, caller.scope, user_id)
    if user is None or user.root_user != caller.root_user:
        raise not_found()
    if user_id != caller.user_id:
        await refuse_over_oneself(db, caller, user)
    else:
        await _refuse_wrong_password(resources, user, body.old_password)
    password_hash = await hash_password(body.password, resources.sealer)
    await records.set_password(db, caller.scope, user_id, password_hash)


async def _refuse_wrong_password(resources: Resources, user: Row, password: str | None) -> None:
    """Who found a token must not guess the password by it: ten tries, counted before each."""
    wrong = [Violation("old_password", "the present password")]
    if password is None:
        raise Invalid("rule_broken", "the request breaks a rule", wrong)
    tries, key = resources.login_failures, f"old password of {user.user_id}"
    if not tries.hit(OLD_PASSWORDS_MAX, key):
        wait = int(tries.get_window_stats(OLD_PASSWORDS_MAX, key).reset_time - time.time()) + 1
        raise TooMany("login_throttled", "too many wrong passwords for this name", retry_after=wait)
    if not await password_matches(password, user.password_hash, resources.sealer):
        raise Invalid("rule_broken", "the request breaks a rule", wrong)
    tries.clear(OLD_PASSWORDS_MAX, key)


async def user_named(db: AsyncConnection, caller: Caller, user: str) -> Row:
    """The root user or a subuser, by id or by name."""
    found = await records.find_user(db, caller.scope, user)
    found = found or await records.find_user_by_name(db, caller.scope, user)
    if found is None or found.root_user != caller.root_user:
        raise not_found()
    return found


async def create_api_client(
    db: AsyncConnection, caller: Caller, user: str, name: str
) -> tuple[Row, NewClient]:
    """A client acts as its user: nobody makes one for someone who may do more than himself."""
    owner = await user_named(db, caller, user)
    if owner.user_id != caller.user_id:
        await refuse_over_oneself(db, caller, owner)
    client = await add_api_client(db, caller.scope, user_id=owner.user_id, name=name)
    return owner, client


async def add_api_client(
    db: AsyncConnection, scope: TenantScope, *, user_id: str, name: str
) -> NewClient:
    """Findable by its id before the caller is known."""
    client = NewClient(new_id("cl"), generate_client_secret(), clock.unix_nanoseconds())
    await records.add_api_client(
        db,
        scope,
        client_id=client.client_id,
        user_id=user_id,
        name=name,
        secret_hash=hash_client_secret(client.client_secret),
        create_time_ns=client.create_time_ns,
    )
    await add_lookup(db, scope, LookupKind.api_client, client.client_id)
    return client


async def delete_api_client(db: AsyncConnection, caller: Caller, user: str, client_id: str) -> None:
    """Its tokens, access and refresh, die with it."""
    owner = await user_named(db, caller, user)
    deleted = await records.delete_api_client(
        db, caller.scope, user_id=owner.user_id, client_id=client_id
    )
    if not deleted:
        raise not_found()
    await remove_lookup(db, caller.scope, LookupKind.api_client, client_id)


async def holdings_of_caller(db: AsyncConnection, caller: Caller) -> EffectivePermissions:
    return await _holdings(db, caller.scope, caller.user_id, caller.kind)


async def holdings_of_user(
    db: AsyncConnection, scope: TenantScope, user: Row
) -> EffectivePermissions:
    return await _holdings(db, scope, user.user_id, user.kind)


async def _holdings(
    db: AsyncConnection, scope: TenantScope, user_id: str, kind: str
) -> EffectivePermissions:
    by_kind = {UserKind.root: ROOT, UserKind.reseller: RESELLER}.get(UserKind(kind))
    return by_kind if by_kind is not None else await load_effective_permissions(db, scope, user_id)


async def refuse_over_oneself(db: AsyncConnection, caller: Caller, user: Row) -> None:
    """403 where the other may do more than the caller; otherwise acting as him would be a gain."""
    if user.user_id == caller.user_id:
        return
    mine = await holdings_of_caller(db, caller)
    if not mine.cover(await holdings_of_user(db, caller.scope, user)):
        raise NotPermitted("holds_more", "the other user may do more than the caller")
