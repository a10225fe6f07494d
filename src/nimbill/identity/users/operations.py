"""Changes to users and API clients: the checks in order, then the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import (
    RESELLER,
    ROOT,
    EffectivePermissions,
    load_effective_permissions,
)
from nimbill.access.extension_rights import all_cover
from nimbill.access.login_failures import (
    add_attempt,
    count_of_old_password,
    forget_attempts,
    forget_count,
)
from nimbill.access.password_hash_queue import QueueLane
from nimbill.access.passwords import (
    enter_login_queue,
    generate_client_secret,
    hash_client_secret,
    hash_password,
    password_matches,
)
from nimbill.access.request_context import Resources
from nimbill.database.tenant_lookup import LookupKind, add_lookup, remove_lookup
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.errors import (
    Conflict,
    NotPermitted,
    Violation,
    not_found,
    rule_violations_error,
)
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import PORTAL_USER_KINDS, UserKind
from nimbill.http.idempotency import delete_keys_of_user
from nimbill.identity.users import records
from nimbill.identity.users.bodies import (
    BooleanText,
    EmailChange,
    PasswordChange,
    SubuserCreate,
)
from nimbill.identity.users.password_link_records import delete_links_of_user
from nimbill.identity.users.password_links import LinkPurpose, create_link
from nimbill.mail.delivery import queue_message
from nimbill.mail.messages import user_invited

# Users created by a root user or a reseller have another kind; others create their own kind.
_SUBUSER_KINDS = {
    UserKind.root: UserKind.subuser,
    UserKind.reseller: UserKind.reseller_subuser,
}


@dataclass(frozen=True, slots=True)
class NewApiClient:
    client_id: str
    client_secret: str  # shown once, stored as a hash
    create_time_ns: int


async def create_subuser(
    db: AsyncConnection, caller: Caller, resources: Resources, body: SubuserCreate
) -> Row:
    """Store a subuser without permissions; refuse a name or address that is already in use.

    Rights of extensions, which a user may have without a role, are limited to the caller's.
    """
    in_use = await records.find_names_in_use(
        db, caller.scope, username=body.username, email=body.email
    )
    if "username" in in_use:
        raise Conflict("username_taken", "This username is already in use.")
    if "email" in in_use:
        raise Conflict("email_taken", "This e-mail address is already in use.")
    user = await records.add_user(
        db,
        caller.scope,
        user_id=new_id("usr"),
        root_user=caller.root_user,
        kind=_SUBUSER_KINDS.get(caller.kind, caller.kind),
        username=body.username,
        email=body.email,
        notification_email=body.notification.email is BooleanText.true,
        password_hash=await hash_password(body.password, resources.encryptor),
    )
    for rights in resources.extension_rights:
        await rights.grant_to_new_user(db, caller, user.user_id)
    if user.notification_email and user.email is not None:
        await _invite(db, caller.scope, resources, user)
    return user


async def _invite(db: AsyncConnection, scope: TenantScope, resources: Resources, user: Row) -> None:
    """Mail a link with which the user chooses a password."""
    product = Product.portal if user.kind in PORTAL_USER_KINDS else Product.core
    link = await create_link(
        db, scope, resources, user, product=product, purpose=LinkPurpose.invitation
    )
    language = await resources.hooks.find_language(db, scope, user)
    message = user_invited(to=user.email, username=user.username, link=link, language=language)
    await queue_message(db, scope, resources.encryptor, message)


async def delete_subuser(
    db: AsyncConnection, caller: Caller, resources: Resources, user_id: str
) -> None:
    """Delete the user with its clients, mappings and tokens. The audit log keeps its name."""
    user = await records.lock_user(db, caller.scope, user_id, to_delete=True)
    if user is None or user.root_user != caller.root_user:
        raise not_found()
    await refuse_user_with_more_permissions(db, caller, resources, user)
    if user.user_id == user.root_user:
        raise Conflict("root_user", "The root user cannot be deleted.")
    await delete_user_and_clients(db, caller.scope, user_id)


async def delete_user_and_clients(db: AsyncConnection, scope: TenantScope, user_id: str) -> None:
    for client in await records.list_api_clients(db, scope, user_id):
        await remove_lookup(db, scope, LookupKind.api_client, client.client_id)
    await delete_keys_of_user(db, scope, user_id)
    await records.delete_user(db, scope, user_id)


async def change_password(
    db: AsyncConnection, caller: Caller, resources: Resources, user_id: str, body: PasswordChange
) -> None:
    """Require the old password for the own user, and sufficient permissions for another user.

    Wrong passwords of another user are forgotten: whoever lost a password has often guessed before.
    """
    user = await records.find_user(db, caller.scope, user_id)
    if user is None or user.root_user != caller.root_user:
        raise not_found()
    if user_id != caller.user_id:
        await refuse_user_with_more_permissions(db, caller, resources, user)
    else:
        await refuse_wrong_password(db, caller.scope, resources, user, body.old_password)
    password_hash = await hash_password(body.password, resources.encryptor)
    if user_id != caller.user_id:
        await forget_attempts(db, caller.scope, user)
    await records.set_password(db, caller.scope, user_id, password_hash)


async def change_email(
    db: AsyncConnection, caller: Caller, resources: Resources, user_id: str, body: EmailChange
) -> None:
    """Set the address, to which links for a forgotten password are mailed, and end older links.

    As for a password, the own user needs the old password and another user no more permissions.
    The address of a reseller account is also its username.
    """
    user = await records.find_user(db, caller.scope, user_id)
    if user is None or user.root_user != caller.root_user:
        raise not_found()
    if user_id != caller.user_id:
        await refuse_user_with_more_permissions(db, caller, resources, user)
    else:
        await refuse_wrong_password(db, caller.scope, resources, user, body.old_password)
    if await records.lock_user(db, caller.scope, user_id) is None:
        raise not_found()
    username = body.email if user.kind == UserKind.reseller else user.username
    in_use = await records.find_names_in_use(
        db, caller.scope, username=body.email, email=body.email, except_user=user_id
    )
    if in_use:
        raise Conflict("email_taken", "This e-mail address is already in use.")
    await records.set_email(db, caller.scope, user_id, email=body.email, username=username)
    await delete_links_of_user(db, caller.scope, user_id)


async def refuse_wrong_password(
    db: AsyncConnection, scope: TenantScope, resources: Resources, user: Row, password: str | None
) -> None:
    """Count each attempt before the check, so that a stolen token cannot guess the password.

    Call it before any change and any lock: a wrong password commits the transaction, because the
    count must survive the refusal. Parallel attempts wait for the count within the queue, which is
    short, because they hold connections.
    """
    violations = [Violation("old_password", "the current password")]
    if password is None:
        raise rule_violations_error(violations)
    count = count_of_old_password(scope, user.user_id)
    with enter_login_queue(QueueLane.password_change, "") as entry:
        await add_attempt(db, count)
        matches = await password_matches(password, user.password_hash, resources.encryptor, entry)
    if not matches:
        await db.commit()
        raise rule_violations_error(violations)
    await forget_count(db, count)


async def require_user(db: AsyncConnection, caller: Caller, user: str) -> Row:
    """Find the root user or one of its subusers, by id or by name."""
    row = await records.find_user(db, caller.scope, user)
    row = row or await records.find_user_by_name(db, caller.scope, user)
    if row is None or row.root_user != caller.root_user:
        raise not_found()
    return row


async def require_manageable_user(
    db: AsyncConnection, caller: Caller, resources: Resources, user: str
) -> Row:
    """Find a user like `require_user`; refuse one with more permissions than the caller."""
    row = await require_user(db, caller, user)
    await refuse_user_with_more_permissions(db, caller, resources, row)
    return row


async def create_api_client(
    db: AsyncConnection, caller: Caller, resources: Resources, user: str, name: str
) -> tuple[Row, NewApiClient]:
    """Create a client of a user; refuse a user with more permissions than the caller."""
    owner = await require_manageable_user(db, caller, resources, user)
    client = await add_api_client(db, caller.scope, user_id=owner.user_id, name=name)
    return owner, client


async def add_api_client(
    db: AsyncConnection, scope: TenantScope, *, user_id: str, name: str
) -> NewApiClient:
    """Store the client and add it to the lookup that finds the organisation of a login."""
    client = NewApiClient(new_id("cl"), generate_client_secret(), clock.unix_nanoseconds())
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


async def list_api_clients(
    db: AsyncConnection, caller: Caller, resources: Resources, user: str
) -> Sequence[Row]:
    """List the clients of a user; refuse a user with more permissions than the caller."""
    owner = await require_manageable_user(db, caller, resources, user)
    return await records.list_api_clients(db, caller.scope, owner.user_id)


async def delete_api_client(
    db: AsyncConnection, caller: Caller, resources: Resources, user: str, client_id: str
) -> None:
    """Delete the client; its access and refresh tokens become invalid."""
    owner = await require_manageable_user(db, caller, resources, user)
    deleted = await records.delete_api_client(
        db, caller.scope, user_id=owner.user_id, client_id=client_id
    )
    if not deleted:
        raise not_found()
    await remove_lookup(db, caller.scope, LookupKind.api_client, client_id)


async def load_caller_permissions(db: AsyncConnection, caller: Caller) -> EffectivePermissions:
    return await _load_permissions(db, caller.scope, caller.user_id, caller.kind)


async def load_user_permissions(
    db: AsyncConnection, scope: TenantScope, user: Row
) -> EffectivePermissions:
    return await _load_permissions(db, scope, user.user_id, user.kind)


async def _load_permissions(
    db: AsyncConnection, scope: TenantScope, user_id: str, kind: str
) -> EffectivePermissions:
    fixed = {UserKind.root: ROOT, UserKind.reseller: RESELLER}.get(UserKind(kind))
    return fixed or await load_effective_permissions(db, scope, user_id)


async def refuse_user_with_more_permissions(
    db: AsyncConnection, caller: Caller, resources: Resources, user: Row
) -> None:
    """Prevent privilege escalation: acting as this user must not add rights of any kind."""
    if user.user_id == caller.user_id:
        return
    kind = UserKind(user.kind)
    caller_permissions = await load_caller_permissions(db, caller)
    covers = caller_permissions.covers(await load_user_permissions(db, caller.scope, user))
    if not covers or not await all_cover(
        resources.extension_rights, db, caller, user.user_id, kind
    ):
        raise NotPermitted("holds_more", "The other user has permissions that you do not have.")
