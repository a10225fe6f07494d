"""The second gate, in front of the routes of version 3: what the roles of the user allow."""

import re
from string import Formatter
from typing import Any

from litestar import Litestar, Request
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency, Provide
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from nimbill.access.gate import Public, caller_in, own_routes
from nimbill.access.request_context import request_context_of
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import stated
from nimbill.legacy.audiences import LEGACY_USER
from nimbill.legacy.deprecation import VERSION_3
from nimbill.legacy.roles.permission import (
    Needs,
    Permission,
    Unscoped,
    permitted,
    refuse_unless_master,
)

PERMISSION = "nimbill.permission"

PermissionOfCaller = NamedDependency[Permission]

# what a route of version 3 declares beside what it needs, where users call it
OF_USERS: dict[str, Any] = {
    "audiences": [LEGACY_USER],
    "role_actions": ANY_CALLER,
    "basis": stated("Legacy lifecycle API"),
}


async def ask_scope(
    connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler
) -> None:
    """After the gate: the master account's own routes first, then the scopes of the user."""
    if connection.scope.get("method") == "OPTIONS":
        return
    visit = request_context_of(connection.scope)
    caller = caller_in(visit)
    if route.opt.get("master_alone"):
        refuse_unless_master(caller)
        return
    needs = route.opt.get("needs")
    if not isinstance(needs, Needs):
        return
    assert visit.db is not None, "the gate opened it"
    permission = await permitted(visit.db, caller)
    if needs.resource is None:
        permission.refuse_unless_somewhere(needs.action)
    else:
        named = needs.resource.format_map(connection.path_params)
        permission.refuse_unless(needs.action, named)
    connection.scope[PERMISSION] = permission  # type: ignore[literal-required]


async def permission_of_caller(request: Request[Any, Any, Any]) -> Permission:
    """What was asked at the gate; for routes that declare what they need."""
    permission: Permission = request.scope[PERMISSION]  # type: ignore[literal-required]
    return permission


DEPENDENCIES = {"permission": Provide(permission_of_caller)}


def refuse_unscoped_routes(app: Litestar) -> None:
    """Run at start-up: a user's route of version 3 says which permission it needs."""
    complaints = [
        f"{path} {complaint}"
        for path, handler in own_routes(app)
        if VERSION_3.covers(path) and not isinstance(handler.opt["audiences"], Public)
        for complaint in [_complaint(handler, path)]
        if complaint
    ]
    if complaints:
        raise RuntimeError("\n".join(complaints))


def _complaint(handler: HTTPRouteHandler, path: str) -> str:
    of_users = LEGACY_USER in handler.opt["audiences"]
    needs, master_alone = handler.opt.get("needs"), handler.opt.get("master_alone", False)
    if not of_users:
        return "asks agents for a scope, and they have none" if needs or master_alone else ""
    if master_alone:
        return "is the master account's alone and asks a scope too" if needs else ""
    if isinstance(needs, Unscoped):
        return ""
    if not isinstance(needs, Needs):
        return "does not declare needs or master_alone"
    named = {name for _, name, _, _ in Formatter().parse(needs.resource or "") if name}
    unknown = named - set(re.findall(r"{([^:}]+)", path))
    return f"needs {', '.join(sorted(unknown))}, which its path does not name" if unknown else ""
