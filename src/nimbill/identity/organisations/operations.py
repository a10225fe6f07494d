"""Create an organisation with its root user, first API client and encryption key; find one."""

import re
import secrets
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.login_failures import forget_attempts
from nimbill.access.passwords import hash_password
from nimbill.access.signing_keys import add_organisation_key
from nimbill.audit import records as audit
from nimbill.database.tenant_lookup import (
    LookupKind,
    add_lookup,
    find_organisation_id,
    lock_name_assignment,
)
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import NotFound, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations import records
from nimbill.identity.second_factors.records import delete_factors_of_user
from nimbill.identity.users import records as user_records
from nimbill.identity.users.operations import add_api_client
from nimbill.identity.users.user_rules import find_password_violations, find_username_violations
from nimbill.jobs.recurring import schedule_maintenance

# See docs/choices.md, organisations.


@dataclass(frozen=True, slots=True)
class NewOrganisation:
    organisation_id: str
    root_user_id: str
    username: str
    client_id: str
    client_secret: str


async def create_organisation(
    engine: AsyncEngine, encryptor: Encryptor, *, name: str, username: str, password: str
) -> NewOrganisation:
    """Create everything in one transaction. The service may be running."""
    refuse_if([*find_username_violations(username), *find_password_violations(password)])
    organisation_id, root_user_id = new_id("org"), new_id("usr")
    password_hash = await hash_password(password, encryptor)
    scope = TenantScope(organisation_id)
    async with transaction(engine, organisation_id) as db:
        await lock_name_assignment(db)
        short_name = _derive_short_name(name)
        while await find_organisation_id(db, LookupKind.short_name, short_name) is not None:
            short_name = f"{_derive_short_name(name)}-{secrets.token_hex(3)}"
        await records.add_organisation(db, scope, name=name, short_name=short_name)
        await add_lookup(db, scope, LookupKind.short_name, short_name)
        await add_lookup(db, scope, LookupKind.organisation, organisation_id)
        await add_organisation_key(db, scope, encryptor)
        await user_records.add_user(
            db,
            scope,
            user_id=root_user_id,
            root_user=root_user_id,
            kind=UserKind.root,
            username=username,
            password_hash=password_hash,
        )
        client = await add_api_client(db, scope, user_id=root_user_id, name="first client")
        await schedule_maintenance(db, scope)
        await audit.append_entry(
            db,
            actor="command line",
            actor_name="command line",
            action="create_organisation",
            resource=f"organisation/{organisation_id}",
            request_id=new_id("cmd"),
            sent={"name": name, "username": username},
        )
    return NewOrganisation(
        organisation_id, root_user_id, username, client.client_id, client.client_secret
    )


async def reset_password(
    engine: AsyncEngine, encryptor: Encryptor, scope: TenantScope, *, username: str, password: str
) -> str:
    """Set a password without the old one and revoke all tokens of the user; return its id.

    Wrong passwords are forgotten, because whoever lost a password has often guessed before.
    """
    refuse_if([*find_password_violations(password)])
    password_hash = await hash_password(password, encryptor)
    async with transaction(engine, scope.organisation_id) as db:
        await require_organisation(db, scope)
        user = await _require_user_of_name(db, scope, username)
        await forget_attempts(db, scope, user)
        await user_records.set_password(db, scope, user.user_id, password_hash)
        await audit.append_entry(
            db,
            actor="command line",
            actor_name="command line",
            action="reset_password",
            resource=f"users/{user.user_id}",
            request_id=new_id("cmd"),
            sent={"username": user.username},
        )
    user_id: str = user.user_id
    return user_id


async def remove_second_factors(engine: AsyncEngine, scope: TenantScope, *, username: str) -> int:
    """Remove the second factors of a user who lost them; return how many there were."""
    async with transaction(engine, scope.organisation_id) as db:
        await require_organisation(db, scope)
        user = await _require_user_of_name(db, scope, username)
        count = await delete_factors_of_user(db, scope, user.user_id)
        await audit.append_entry(
            db,
            actor="command line",
            actor_name="command line",
            action="remove_second_factors",
            resource=f"user/{user.user_id}/second-factors",
            request_id=new_id("cmd"),
            sent={"username": user.username},
        )
    return count


async def _require_user_of_name(db: AsyncConnection, scope: TenantScope, username: str) -> Row:
    user = await user_records.find_user_by_name(db, scope, username)
    if user is None:
        raise NotFound("not_found", "No user of the organisation has this name.")
    return user


async def require_organisation(db: AsyncConnection, scope: TenantScope) -> Row:
    """For commands, whose organisation comes from an option; a request has that of its token."""
    row = await records.find_organisation(db, scope)
    if row is None:
        raise NotFound("not_found", "No organisation has this id.")
    return row


def _derive_short_name(name: str) -> str:
    """Keep letters, digits and hyphens for use at sign-in; `org` if nothing is left."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    return "-".join(words)[:40].strip("-") or "org"
