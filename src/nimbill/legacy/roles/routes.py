"""Roles over HTTP; paths are relative to the address of the legacy API."""

from typing import Any

from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.database.tenant_scope import Row
from nimbill.foundation import clock
from nimbill.foundation.errors import Violation, refuse_if
from nimbill.http.forms import FORM_TYPES
from nimbill.http.routing import CallerOfRequest, ExactRequest, Transaction, delete, get, post, put
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
from nimbill.legacy.roles.guard import OF_USERS
from nimbill.legacy.roles.permission import Unscoped
from nimbill.legacy.roles.role_templates import ROLE_TEMPLATES

MASTER_ALONE: dict[str, Any] = {**OF_USERS, "master_alone": True}
A_ROLE, A_USERS_ROLE = "legacy_role/{role_id}", "legacy_user_role/{role_id}"
DETACH = dict.fromkeys(("application/json", *FORM_TYPES), LegacyRoleDetach)


@post("/role", forms=True, audited=A_ROLE, **MASTER_ALONE)
async def create_legacy_role(
    data: JSONBody[LegacyRoleWrite], caller: CallerOfRequest, db: Transaction
) -> LegacyRoleWritten:
    """Create a role of version 3; a form, or a JSON object."""
    return LegacyRoleWritten(role_id=await operations.create_legacy_role(db, caller, data))


@put("/role/{role_id:str}", forms=True, audited=A_ROLE, **MASTER_ALONE)
async def update_legacy_role(
    role_id: FromPath[str],
    data: JSONBody[LegacyRoleWrite],
    caller: CallerOfRequest,
    db: Transaction,
) -> LegacyRoleWritten:
    """Give a role of version 3 another name and scope."""
    await operations.update_legacy_role(db, caller.scope, role_id, data)
    return LegacyRoleWritten(role_id=role_id)


@delete("/role/{role_id:str}", audited=A_ROLE, **MASTER_ALONE)
async def delete_legacy_role(
    role_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> LegacyRoleWritten:
    """Delete a role of version 3; it goes from every user who has it."""
    await operations.delete_legacy_role(db, caller.scope, role_id)
    return LegacyRoleWritten(role_id=role_id)


@get("/role", **MASTER_ALONE)
async def list_legacy_roles(caller: CallerOfRequest, db: Transaction) -> list[LegacyRole]:
    """All roles of version 3."""
    return [_shown(row) for row in await records.list_roles(db, caller.scope)]


@get("/user/{username:str}/role", **MASTER_ALONE)
async def list_legacy_roles_of_user(
    username: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> list[LegacyRole]:
    """The roles of version 3 attached to a user."""
    user = await operations.user_with_roles(db, caller.scope, username)
    return [_shown(row) for row in await records.list_roles_of_user(db, caller.scope, user.user_id)]


def _shown(row: Row) -> LegacyRole:
    return LegacyRole(
        role_id=row.role_id,
        user_id=row.user_id,
        name=row.name,
        scope=row.scope,
        create_time=clock.written(row.create_time),
        update_time=clock.written(row.update_time),
    )


@get("/user/role", needs=Unscoped("a user may always see what binds him"), **OF_USERS)
async def list_own_legacy_roles(caller: CallerOfRequest, db: Transaction) -> list[LegacyUserRole]:
    """The roles of version 3 attached to the caller; none binds the master account."""
    return [
        LegacyUserRole(
            user_role_id=row.user_role_id,
            role_id=row.role_id,
            user=f"{caller.user_id}:{caller.username}",
            scope=row.scope,
            create_time=clock.written(row.attach_time),
            update_time=clock.written(row.reattach_time),
        )
        for row in await records.list_roles_of_user(db, caller.scope, caller.user_id)
    ]


@post("/user/role", forms=True, audited=A_USERS_ROLE, **MASTER_ALONE)
async def attach_legacy_role(
    data: JSONBody[LegacyRoleAttach], caller: CallerOfRequest, db: Transaction
) -> LegacyRoleAttached:
    """Attach a role of version 3 to a user."""
    user_role_id = await operations.attach_legacy_role(
        db, caller.scope, username=data.username, role_id=data.role_id
    )
    return LegacyRoleAttached(user_role_id=user_role_id)


@put("/user/role/{role_id:str}", forms=True, audited=A_USERS_ROLE, **MASTER_ALONE)
async def reattach_legacy_role(
    role_id: FromPath[str],
    data: JSONBody[LegacyRoleHolder],
    caller: CallerOfRequest,
    db: Transaction,
) -> LegacyRoleWritten:
    """Put a role of version 3 in the place of all that a user has."""
    await operations.reattach_legacy_role(db, caller.scope, username=data.username, role_id=role_id)
    return LegacyRoleWritten(role_id=role_id)


@delete("/user/role/{role_id:str}", reads=DETACH, forms=True, audited=A_USERS_ROLE, **MASTER_ALONE)
async def detach_legacy_role(
    request: ExactRequest,
    role_id: FromPath[str],
    caller: CallerOfRequest,
    db: Transaction,
    username: FromQuery[str | None] = None,
) -> LegacyRoleWritten:
    """Take a role of version 3 from a user, who is named in the query, a form or a JSON object."""
    named = await _holder_named(request, username)
    await operations.detach_legacy_role(db, caller.scope, username=named, role_id=role_id)
    return LegacyRoleWritten(role_id=role_id)


async def _holder_named(request: ExactRequest, in_query: str | None) -> str:
    """In one of two places; where both are used, they name the same user."""
    in_body = (await request.fields(LegacyRoleDetach)).username if await request.body() else None
    named = {name for name in (in_query, in_body) if name}
    if len(named) != 1:
        rule = "the same in the query and in the body" if named else "required"
        refuse_if([Violation("username", rule)])
    return named.pop()


@get("/role/templates", needs=Unscoped("it is the same for every user"), **OF_USERS)
async def list_role_templates() -> list[LegacyRoleTemplate]:
    """Scopes to start a role of version 3 from."""
    return [LegacyRoleTemplate(id=one.id, name=one.name, scope=one.scope) for one in ROLE_TEMPLATES]


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
