"""The guard of version 3: runs after the gate and checks the scopes of the user's roles."""

import re
from string import Formatter
from typing import Any

from litestar import Litestar, Request
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency, Provide
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from nimbill.access.gate import Public, get_caller, iterate_routes
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import ANY_CALLER
from nimbill.foundation.basis import stated
from nimbill.legacy.audiences import LEGACY_USER
from nimbill.legacy.deprecation import VERSION_3
from nimbill.legacy.roles.permissions import (
    NoScopeRequired,
    Permission,
    ScopeRequirement,
    load_permission,
    require_master_account,
)

PERMISSION = "nimbill.permission"

PermissionOfCaller = NamedDependency[Permission]

# what every route for users declares, besides `requires` or `master_account_only`
USER_ROUTE: dict[str, Any] = {
    "audiences": [LEGACY_USER],
    "role_actions": ANY_CALLER,
    "basis": stated("Legacy lifecycle API"),
}


async def check_scope(
    connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler
) -> None:
    """Refuse callers whose scopes do not allow what the route requires."""
    if connection.scope.get("method") == "OPTIONS":
        return
    context = get_request_context(connection.scope)
    caller = get_caller(context)
    if route.opt.get("master_account_only"):
        require_master_account(caller)
        return
    requirement = route.opt.get("requires")
    if not isinstance(requirement, ScopeRequirement):
        return
    assert context.db is not None, "the gate opened it"
    permission = await load_permission(context.db, caller)
    if requirement.resource is None:
        permission.require_anywhere(requirement.action)
    else:
        resource = requirement.resource.format_map(connection.path_params)
        permission.require(requirement.action, resource)
    connection.scope[PERMISSION] = permission  # type: ignore[literal-required]


async def permission_of_caller(request: Request[Any, Any, Any]) -> Permission:
    """The permission that the guard has loaded; only for routes that require a scope."""
    permission: Permission = request.scope[PERMISSION]  # type: ignore[literal-required]
    return permission


DEPENDENCIES = {"permission": Provide(permission_of_caller)}


def refuse_routes_without_scope(app: Litestar) -> None:
    """Run at start-up; RuntimeError if a route of version 3 does not declare what it requires."""
    problems = [
        f"{path} {problem}"
        for path, handler in iterate_routes(app)
        if VERSION_3.covers(path) and not isinstance(handler.opt["audiences"], Public)
        for problem in [_find_problem(handler, path)]
        if problem
    ]
    if problems:
        raise RuntimeError("\n".join(problems))


def _find_problem(handler: HTTPRouteHandler, path: str) -> str:
    requirement = handler.opt.get("requires")
    is_master_only = handler.opt.get("master_account_only", False)
    if LEGACY_USER not in handler.opt["audiences"]:
        declares = requirement or is_master_only
        return "requires a scope of agents, which have none" if declares else ""
    if is_master_only:
        return "is for the master account only and also requires a scope" if requirement else ""
    if isinstance(requirement, NoScopeRequired):
        return ""
    if not isinstance(requirement, ScopeRequirement):
        return "does not declare requires or master_account_only"
    named = {name for _, name, _, _ in Formatter().parse(requirement.resource or "") if name}
    unknown = ", ".join(sorted(named - set(re.findall(r"{([^:}]+)", path))))
    return f"requires {unknown}, which its path does not contain" if unknown else ""
