"""Finds the organisation that a command names, by id, short name or full name."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_lookup import (
    LookupKind,
    find_organisation_id,
    list_organisation_ids,
)
from nimbill.database.tenant_scope import Row, TenantScope, create_owner_engine, set_tenant
from nimbill.foundation.errors import Conflict, NotFound
from nimbill.identity.organisations import records

# See docs/choices.md, command-line.


@dataclass(frozen=True, slots=True)
class NamedOrganisation:
    organisation_id: str
    name: str

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self.organisation_id)


async def find_organisation(url: str, id_or_name: str) -> NamedOrganisation:
    """Only the database's owner sees all names. A name that several have is refused."""
    row = await _find_row(url, id_or_name) if id_or_name.isprintable() else None
    if row is None:
        raise NotFound("not_found", "No organisation has this id or name.")
    return NamedOrganisation(row.organisation_id, row.name)


async def _find_row(url: str, id_or_name: str) -> Row | None:
    engine = create_owner_engine(url)
    try:
        async with engine.begin() as db:
            return await _find_by_id(db, id_or_name) or await _find_by_full_name(db, id_or_name)
    finally:
        await engine.dispose()


async def _find_by_id(db: AsyncConnection, id_or_name: str) -> Row | None:
    """Ids and short names are unique."""
    for kind, key in (
        (LookupKind.organisation, id_or_name),
        (LookupKind.short_name, id_or_name.strip().lower()),
    ):
        organisation_id = await find_organisation_id(db, kind, key)
        if organisation_id is not None:
            return await _load(db, organisation_id)
    return None


async def _find_by_full_name(db: AsyncConnection, name: str) -> Row | None:
    rows = [await _load(db, each) for each in await list_organisation_ids(db)]
    wanted = name.strip().casefold()
    found = [row for row in rows if row is not None and row.name.casefold() == wanted]
    if len(found) > 1:
        raise Conflict(
            "name_not_unique",
            "Several organisations have this name. Use the id or the short name, as shown by "
            "`nimbill organisations list`.",
        )
    return found[0] if found else None


async def _load(db: AsyncConnection, organisation_id: str) -> Row | None:
    await set_tenant(db, organisation_id)
    return await records.find_organisation(db, TenantScope(organisation_id))
