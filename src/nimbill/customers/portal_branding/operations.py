"""Read and change the branding of the portal."""

import re
from hashlib import sha256

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.records import OrganisationSettings
from nimbill.customers.portal_branding import records
from nimbill.customers.portal_branding.bodies import PortalLogo, PortalLogoBody, decode_content
from nimbill.customers.portal_branding.branding import Branding
from nimbill.customers.portal_branding.logo_rules import read_logo
from nimbill.database.tenant_lookup import LookupKind, find_organisation_id
from nimbill.database.tenant_scope import TenantScope

PATH = "/portal-branding"
DIGEST_CHARACTERS = 32
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


async def store_logo(db: AsyncConnection, scope: TenantScope, body: PortalLogoBody) -> PortalLogo:
    content = decode_content(body.content)
    logo = read_logo(content)
    assert logo is not None, "the body check refuses other files"
    digest = sha256(content).hexdigest()[:DIGEST_CHARACTERS]
    await records.store_logo(db, scope, media_type=logo.media_type, digest=digest, content=content)
    address = _build_logo_address(scope, digest)
    return PortalLogo(
        logo=address, media_type=logo.media_type, width=logo.width, height=logo.height
    )


async def load_branding(
    db: AsyncConnection, scope: TenantScope, settings: OrganisationSettings
) -> Branding:
    """The addresses contain what they show, so that a change has a new address."""
    digest, colour = await records.find_logo_digest(db, scope), settings.portal_colour
    style = f"{PATH}/{scope.organisation_id}/style.css?v="
    return Branding(
        name=settings.portal_name,
        colour=colour,
        logo=None if digest is None else _build_logo_address(scope, digest),
        style=None if colour is None else style + colour.removeprefix("#"),
    )


def _build_logo_address(scope: TenantScope, digest: str) -> str:
    return f"{PATH}/{scope.organisation_id}/logo?v={digest}"


async def find_scope(db: AsyncConnection, organisation: str) -> TenantScope | None:
    """Find an organisation by its short name or its id."""
    if _NAME.fullmatch(organisation) is None:
        return None
    organisation_id = await find_organisation_id(
        db, LookupKind.short_name, organisation.lower()
    ) or await find_organisation_id(db, LookupKind.organisation, organisation)
    return None if organisation_id is None else TenantScope(organisation_id)
