"""Create an organisation with its root user, first API client and encryption key."""

import re
import secrets
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.access.passwords import hash_password
from nimbill.access.signing_keys import add_organisation_key
from nimbill.audit import records as audit
from nimbill.database.tenant_lookup import (
    LookupKind,
    add_lookup,
    find_organisation_id,
    lock_name_assignment,
)
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations import records
from nimbill.identity.users import records as user_records
from nimbill.identity.users.operations import add_api_client
from nimbill.identity.users.user_rules import find_password_violations, find_username_violations
from nimbill.jobs.recurring import schedule_maintenance

basis = chosen("organisations")


@dataclass(frozen=True, slots=True)
class NewOrganisation:
    organisation_id: str
    root_user_id: str
    username: str
    client_id: str
    client_secret: str


@dataclass(frozen=True, slots=True)
class NamedOrganisation:
    organisation_id: str
    name: str


async def find_organisation(engine: AsyncEngine, id_or_name: str) -> NamedOrganisation | None:
    """Find an organisation by its id, its short name or its full name, for the command line."""
    full_name = id_or_name.strip().lower()
    async with engine.connect() as db:
        organisation_id = await find_organisation_id(
            db, LookupKind.organisation, id_or_name
        ) or await find_organisation_id(db, LookupKind.short_name, full_name)
        by_full_name = await find_organisation_id(
            db, LookupKind.short_name, _derive_short_name(full_name)
        )
    found = organisation_id or by_full_name
    if found is None:
        return None
    async with transaction(engine, found) as db:
        name = await records.load_organisation_name(db, TenantScope(found)) or ""
    # A short name is derived from a full name, but other names may have the same short form.
    is_match = organisation_id is not None or name.lower() == full_name
    return NamedOrganisation(found, name) if is_match else None


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


def _derive_short_name(name: str) -> str:
    """Keep letters, digits and hyphens for use at sign-in; `org` if nothing is left."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    return "-".join(words)[:40].strip("-") or "org"
