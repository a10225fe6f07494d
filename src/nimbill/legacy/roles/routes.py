"""Routes of roles; paths are relative to /v3."""

from typing import Any

from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.http.forms import FORM_TYPES
from nimbill.http.routing import ExactRequest, RequestCaller, Transaction, delete, get, post, put
from nimbill.legacy.roles import operations, records
from nimbill.legacy.roles.bodies import (
    LegacyRole,
    LegacyRoleAttach,
    LegacyRoleAttached,
    LegacyRoleDetach,
    LegacyRoleHolder,
    LegacyRoleTemplate,
    LegacyRoleWrite,
    LegacyRoleWritten,
    LegacyUserRole,
)
from nimbill.legacy.roles.guard import USER_ROUTE
from nimbill.legacy.roles.permissions import NoScopeRequired
from nimbill.legacy.roles.role_templates import ROLE_TEMPLATES

MASTER_ACCOUNT_ROUTE: dict[str, Any] = {**USER_ROUTE, "master_account_only": True}
ROLE_RESOURCE = "legacy_role/{role_id}"
USER_ROLE_RESOURCE = "legacy_user_role/{role_id}"
DETACH_BODIES = dict.fromkeys(("application/json", *FORM_TYPES), LegacyRoleDetach)


@post("/role", forms=True, audited=ROLE_RESOURCE, **MASTER_ACCOUNT_ROUTE)
async def create_legacy_role(
    data: JSONBody[LegacyRoleWrite], caller: RequestCaller, db: Transaction
) -> LegacyRoleWritten:
    """Create a role of version 3, from a form or a JSON object."""
    return LegacyRoleWritten(role_id=await operations.create_legacy_role(db, caller, data))


@put("/role/{role_id:str}", forms=True, audited=ROLE_RESOURCE, **MASTER_ACCOUNT_ROUTE)
async def update_legacy_role(
    role_id: FromPath[str],
    data: JSONBody[LegacyRoleWrite],
    caller: RequestCaller,
    db: Transaction,
) -> LegacyRoleWritten:
    """Change the name and the scope of a role of version 3."""
    await operations.update_legacy_role(db, caller.scope, role_id, data)
    return LegacyRoleWritten(role_id=role_id)


@delete("/role/{role_id:str}", audited=ROLE_RESOURCE, **MASTER_ACCOUNT_ROUTE)
async def delete_legacy_role(
    role_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> LegacyRoleWritten:
    """Delete a role of version 3 and detach it from all users."""
    await operations.delete_legacy_role(db, caller.scope, role_id)
    return LegacyRoleWritten(role_id=role_id)


@get("/role", **MASTER_ACCOUNT_ROUTE)
async def list_legacy_roles(caller: RequestCaller, db: Transaction) -> list[LegacyRole]:
    """List the roles of version 3."""
    return [_to_body(row) for row in await records.list_roles(db, caller.scope)]


@get("/user/{username:str}/role", **MASTER_ACCOUNT_ROUTE)
async def list_legacy_roles_of_user(
    username: FromPath[str], caller: RequestCaller, db: Transaction
) -> list[LegacyRole]:
    """List the roles of version 3 that are attached to a user."""
    user = await operations.find_role_holder(db, caller.scope, username)
    return [
        _to_body(row) for row in await records.list_roles_of_user(db, caller.scope, user.user_id)
    ]


def _to_body(row: Row) -> LegacyRole:
    return LegacyRole(
        role_id=row.role_id,
        user_id=row.user_id,
        name=row.name,
        scope=row.scope,
        create_time=clock.format_timestamp(row.create_time),
        update_time=clock.format_timestamp(row.update_time),
    )


@get("/user/role", requires=NoScopeRequired("users may always read their own roles"), **USER_ROUTE)
async def list_own_legacy_roles(caller: RequestCaller, db: Transaction) -> list[LegacyUserRole]:
    """List the roles of version 3 that are attached to the caller; the master account has none."""
    return [
        LegacyUserRole(
            user_role_id=row.user_role_id,
            role_id=row.role_id,
            user=f"{caller.user_id}:{caller.username}",
            scope=row.scope,
            create_time=clock.format_timestamp(row.attach_time),
            update_time=clock.format_timestamp(row.reattach_time),
        )
        for row in await records.list_roles_of_user(db, caller.scope, caller.user_id)
    ]


@post("/user/role", forms=True, audited=USER_ROLE_RESOURCE, **MASTER_ACCOUNT_ROUTE)
async def attach_legacy_role(
    data: JSONBody[LegacyRoleAttach], caller: RequestCaller, db: Transaction
) -> LegacyRoleAttached:
    """Attach a role of version 3 to a user."""
    user_role_id = await operations.attach_legacy_role(
        db, caller.scope, username=data.username, role_id=data.role_id
    )
    return LegacyRoleAttached(user_role_id=user_role_id)


@put("/user/role/{role_id:str}", forms=True, audited=USER_ROLE_RESOURCE, **MASTER_ACCOUNT_ROUTE)
async def reattach_legacy_role(
    role_id: FromPath[str],
    data: JSONBody[LegacyRoleHolder],
    caller: RequestCaller,
    db: Transaction,
) -> LegacyRoleWritten:
    """Replace all roles of version 3 of a user by one role."""
    await operations.reattach_legacy_role(db, caller.scope, username=data.username, role_id=role_id)
    return LegacyRoleWritten(role_id=role_id)


@delete(
    "/user/role/{role_id:str}",
    reads=DETACH_BODIES,
    forms=True,
    audited=USER_ROLE_RESOURCE,
    **MASTER_ACCOUNT_ROUTE,
)
async def detach_legacy_role(
    request: ExactRequest,
    role_id: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    username: FromQuery[str | None] = None,
) -> LegacyRoleWritten:
    """Detach a role of version 3 from the user named in the query, a form or a JSON object."""
    username = await _read_username(request, username)
    await operations.detach_legacy_role(db, caller.scope, username=username, role_id=role_id)
    return LegacyRoleWritten(role_id=role_id)


async def _read_username(request: ExactRequest, in_query: str | None) -> str:
    """From the query or the body; if both name a user, they must name the same."""
    in_body = (await request.read_body(LegacyRoleDetach)).username if await request.body() else None
    usernames = {name for name in (in_query, in_body) if name}
    if len(usernames) != 1:
        rule = "the same in the query and in the body" if usernames else "required"
        refuse_if([Violation("username", rule)])
    return usernames.pop()


@get(
    "/role/templates",
    requires=NoScopeRequired("the templates are the same for all users"),
    **USER_ROUTE,
)
async def list_role_templates() -> list[LegacyRoleTemplate]:
    """List predefined scopes for roles of version 3."""
    return [
        LegacyRoleTemplate(id=template.id, name=template.name, scope=template.scope)
        for template in ROLE_TEMPLATES
    ]


ROUTES = [
    create_legacy_role,
    update_legacy_role,
    delete_legacy_role,
    list_legacy_roles,
    list_legacy_roles_of_user,
    list_own_legacy_roles,
    attach_legacy_role,
    reattach_legacy_role,
    detach_legacy_role,
    list_role_templates,
]
