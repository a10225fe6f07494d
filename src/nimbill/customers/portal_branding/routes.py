"""HTTP routes of the portal's branding: changes below /m/core, and what browsers load."""

from hashlib import sha256
from typing import Any

from litestar import Request, Response
from litestar.params import FromPath, JSONBody
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.gate import Audience, Changes, Public
from nimbill.access.role_actions import ANY_CALLER, RoleAction
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.customers.portal_branding import operations, records
from nimbill.customers.portal_branding.bodies import PortalLogo, PortalLogoBody
from nimbill.customers.portal_branding.branding import Branding
from nimbill.database.tenant_scope import TenantScope, set_tenant
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    RequestCaller,
    Transaction,
    WorkerResources,
    delete,
    get,
    put,
)

_BASIS = chosen("portal-branding")
_PUBLIC: dict[str, Any] = {
    "audiences": Public("customers see the branding before they sign in"),
    "role_actions": ANY_CALLER,
    "basis": _BASIS,
}
CACHING = "public, max-age=300"


@put(
    "/portal-logo",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifySettings],
    basis=_BASIS,
    audited="portal_logo",
    changes=Changes.shared_records,
)
async def store_portal_logo(
    data: JSONBody[PortalLogoBody], caller: RequestCaller, db: Transaction
) -> PortalLogo:
    """Store the logo that the portal shows, in place of the one before."""
    return await operations.store_logo(db, caller.scope, data)


@delete(
    "/portal-logo",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifySettings],
    basis=_BASIS,
    audited="portal_logo",
    changes=Changes.shared_records,
)
async def delete_portal_logo(caller: RequestCaller, db: Transaction) -> Success:
    """Remove the logo; afterwards the portal has none."""
    await records.delete_logo(db, caller.scope)
    return Success()


@get(
    "/portal-branding",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadSettings, RoleAction.ModifySettings],
    basis=_BASIS,
)
async def read_own_branding(caller: RequestCaller, db: Transaction) -> Branding:
    """Show the branding of the organisation, with the address of its logo."""
    return await operations.load_branding(db, caller.scope, await load_settings(db, caller.scope))


@get(f"{operations.PATH}/{{organisation:str}}", **_PUBLIC)
async def read_branding(organisation: FromPath[str], resources: WorkerResources) -> Branding:
    """Show the branding of an organisation, named by id or short name, to its customers.

    An unknown organisation has the same response as one without branding.
    """
    async with resources.engine.connect() as db:
        scope = await _enter_organisation(db, organisation)
        if scope is None:
            return Branding()
        return await operations.load_branding(db, scope, await load_settings(db, scope))


@get(f"{operations.PATH}/{{organisation:str}}/logo", include_in_schema=False, **_PUBLIC)
async def get_logo(
    organisation: FromPath[str], request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[bytes]:
    """Return the logo; 404 if the organisation has none or does not exist."""
    async with resources.engine.connect() as db:
        scope = await _enter_organisation(db, organisation)
        logo = None if scope is None else await records.find_logo(db, scope)
    if logo is None:
        raise not_found()
    return _build_file(request, logo.content, logo.media_type)


@get(f"{operations.PATH}/{{organisation:str}}/style.css", include_in_schema=False, **_PUBLIC)
async def get_style(
    organisation: FromPath[str], request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[bytes]:
    """Return a style sheet with the colour; empty if there is none."""
    async with resources.engine.connect() as db:
        scope = await _enter_organisation(db, organisation)
        colour = None if scope is None else (await load_settings(db, scope)).portal_colour
    content = b"" if colour is None else f":root {{ --portal-colour: {colour}; }}\n".encode()
    return _build_file(request, content, "text/css")


async def _enter_organisation(db: AsyncConnection, organisation: str) -> TenantScope | None:
    scope = await operations.find_scope(db, organisation)
    if scope is not None:
        await set_tenant(db, scope.organisation_id)
    return scope


def _build_file(
    request: Request[Any, Any, Any], content: bytes, media_type: str
) -> Response[bytes]:
    """Answer 304 if the browser has this version already."""
    etag = f'"{sha256(content).hexdigest()[: operations.DIGEST_CHARACTERS]}"'
    headers = {"ETag": etag, "Cache-Control": CACHING}
    if request.headers.get("if-none-match") == etag:
        return Response(b"", status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


CORE_ROUTES = [store_portal_logo, delete_portal_logo, read_own_branding]
PUBLIC_ROUTES = [read_branding, get_logo, get_style]
