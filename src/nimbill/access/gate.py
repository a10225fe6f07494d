"""The gate: authenticate and authorise every request before its handler runs."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar

from litestar import Litestar, Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.routes import HTTPRoute

from nimbill.access.caller import Caller
from nimbill.access.request_context import RequestContext, Resources, get_request_context
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import (
    PORTAL_SUBJECT_TYPES,
    SUBJECT_TYPES,
    Claims,
    invalid_token,
    read_key_id,
)
from nimbill.access.uploads import is_multipart
from nimbill.foundation.errors import NotAuthenticated, NotPermitted, TooManyRequests
from nimbill.foundation.product import Product

# See docs/choices.md, restricted-users-change-own-groups.

MUTATING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class Audience:
    """Whose tokens a route accepts: those of a product, for certain subject types."""

    name: str
    product: Product
    subject_types: tuple[str, ...] = SUBJECT_TYPES

    core: ClassVar["Audience"]
    portal: ClassVar["Audience"]

    def __str__(self) -> str:
        return self.name


Audience.core = Audience("core", Product.core)
Audience.portal = Audience("portal", Product.portal, PORTAL_SUBJECT_TYPES)


@dataclass(frozen=True, slots=True)
class Public:
    """The audience of a route without authentication, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unaudited:
    """Marks a POST, PUT, PATCH or DELETE route without an audit row, with the reason."""

    reason: str


class Changes(Enum):
    """What a mutating route of core changes; decides what restricted callers may do there.

    A caller with a filter on billing groups is restricted.
    """

    billing_groups = "records of billing groups; the operation finds those of visible groups only"
    shared_records = "records that belong to no single billing group; refused to such callers"
    users = "users, roles and sessions; the rules on granting permissions limit what can be changed"


@dataclass(frozen=True, slots=True)
class FlagByParameter:
    """The flag of a route depends on a query parameter; other values are refused by the route."""

    parameter: str
    flags: Mapping[str, str]  # value of the parameter to the flag

    def list_flags(self, connection: ASGIConnection[Any, Any, Any, Any]) -> list[str]:
        """Return the flags of all values, because the route may use another one than the first."""
        values = connection.query_params.getall(self.parameter, [])
        return [self.flags[value] for value in values if value in self.flags]


_PARAMETER = re.compile(r"{[^}]*}")

# Options that every route must declare; a mutating route must also declare `audited`, and
# `changes` if it accepts tokens of core.
REQUIRED_DECLARATIONS = ("audiences", "role_actions", "basis")


async def gate(connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler) -> None:
    """Check token, rate limit, body, caller and role actions, in this order: cheapest first."""
    context = get_request_context(connection.scope)
    method = connection.scope.get("method")
    if method == "OPTIONS":
        context.methods = _list_methods(connection.app, connection.scope["path_template"])
        return
    context.route = connection.scope["path_template"] = _declared_path(connection, route)
    if isinstance(route.opt["audiences"], Public):
        return
    resources: Resources = connection.app.state.resources
    claims = await _read_claims(connection, resources)
    _require_audience(claims, route.opt["audiences"])
    if not resources.is_within_rate_limit(claims.user_id):
        raise TooManyRequests(
            "rate_exceeded", "Too many requests per second. Try again later.", retry_after=1
        )
    # Read the body before the transaction, so that a slow client does not hold a connection.
    if method in MUTATING and isinstance(connection, Request):
        if "uploads" in route.opt and is_multipart(connection.headers.get("content-type", "")):
            # Check permissions before files are written to disk.
            await _authorize(connection, route, claims)
            await context.close()
            settings = resources.settings
            await context.receive_upload(
                connection, settings.data / "uploads", reserve_mib=settings.disk_reserve_mib
            )
        else:
            await connection.body()
    connection.scope["user"] = await _authorize(connection, route, claims)


async def _authorize(
    connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler, claims: Claims
) -> Caller:
    """Load the caller in the request's transaction and check flags and role actions."""
    resources: Resources = connection.app.state.resources
    caller = await get_request_context(connection.scope).authenticate(resources, claims)
    if caller is None:
        raise invalid_token()
    _refuse_in_view(caller, connection.scope.get("method"), route)
    for flag in _list_flags(connection, route.opt.get("flag")):
        require_flag(caller, flag)
    if not _is_own_user(connection, caller, route.opt.get("own_user_parameter")):
        require_flag(caller, route.opt.get("flag_for_other_users"))
        _require_role_action(caller, await _get_role_actions(connection, route))
    _refuse_restricted_caller(caller, route.opt.get("changes"))
    _require_session(caller, route.opt.get("session_only", False))
    return caller


def _require_audience(claims: Claims, audiences: Sequence[Audience]) -> None:
    of_product = [audience for audience in audiences if audience.product == claims.product]
    if not of_product:
        raise NotAuthenticated(
            "token_of_other_product", "This path needs a token of another product."
        )
    if not any(claims.subject_type in audience.subject_types for audience in of_product):
        raise NotPermitted("grant_not_admitted", "This path needs a token of another grant type.")


def _refuse_in_view(caller: Caller, method: object, route: BaseRouteHandler) -> None:
    """A view of the portal reads what belongs to the company, and only ends itself."""
    if caller.viewer is None or route.opt.get("ends_view"):
        return
    if method in MUTATING:
        raise NotPermitted(
            "read_only_view",
            "This is a view of the portal as the customer sees it. It changes nothing: "
            "make the change in the reseller console, or ask the customer.",
        )
    if route.opt.get("personal"):
        raise NotPermitted(
            "personal_page", "A view of the portal does not show what concerns one person's login."
        )


def _list_flags(
    connection: ASGIConnection[Any, Any, Any, Any], flag: str | FlagByParameter | None
) -> Sequence[str]:
    if isinstance(flag, FlagByParameter):
        return flag.list_flags(connection)
    return [] if flag is None else [flag]


def require_flag(caller: Caller, flag: str | None) -> None:
    """Refuse a reseller whose display flag is off. Flags do not restrict other callers."""
    if flag is not None and caller.flags is not None and not caller.flags.get(flag, False):
        raise NotPermitted(
            "flag_off", f"This feature is not enabled for the account: its flag {flag} is off."
        )


def _is_own_user(
    connection: ASGIConnection[Any, Any, Any, Any], caller: Caller, parameter: str | None
) -> bool:
    """Return whether the path parameter names the caller, by user id or by username."""
    if parameter is None:
        return False
    value = str(connection.path_params[parameter])
    return value == caller.user_id or value.lower() == caller.username.lower()


async def _get_role_actions(
    connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler
) -> Sequence[RoleAction]:
    """Return the role actions of the route, which may differ for requests with a body."""
    with_body = route.opt.get("role_actions_with_body")
    if with_body is not None and isinstance(connection, Request) and await connection.body():
        actions: Sequence[RoleAction] = with_body
    else:
        actions = route.opt["role_actions"]
    return actions


def _require_role_action(caller: Caller, role_actions: Sequence[RoleAction]) -> None:
    if not caller.may(role_actions):
        raise NotPermitted(
            "role_action_missing",
            f"This path needs one of these permissions: {', '.join(role_actions)}.",
        )


def _refuse_restricted_caller(caller: Caller, changes: Changes | None) -> None:
    """Invoice templates, settings or months affect groups that the caller cannot see."""
    if changes is Changes.shared_records and caller.scope.billing_groups is not None:
        raise NotPermitted(
            "narrowed_caller",
            "Users restricted to certain billing groups cannot change what belongs to no single "
            "one of them. Ask a user without this restriction.",
        )


def _require_session(caller: Caller, session_only: bool) -> None:
    """Tokens of API clients name the family of their refresh tokens; those of sessions do not."""
    is_session = caller.subject_type == "user" and caller.family_id is None
    if session_only and not is_session:
        raise NotPermitted(
            "session_required",
            "This is done in a console only. Sign in there and open the page Security.",
        )


async def _read_claims(
    connection: ASGIConnection[Any, Any, Any, Any], resources: Resources
) -> Claims:
    token = _bearer_token(connection)
    kid = read_key_id(token) if not resources.tokens.is_cached(token) else None
    if kid is not None and not resources.tokens.has_key(kid):
        await resources.reload_keys_if_stale()
    return resources.tokens.verify(token)


def _bearer_token(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    values = connection.headers.getall("authorization", [])
    if not values:
        raise NotAuthenticated("token_missing", "A bearer token is required.")
    scheme, _, token = values[0].partition(" ")
    if len(values) > 1 or scheme.lower() != "bearer" or not token:
        raise invalid_token()
    return token


def iterate_routes(app: Litestar) -> Iterator[tuple[str, HTTPRouteHandler]]:
    """Iterate over path and handler of all routes, without the framework's OPTIONS routes."""
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for handler in route.route_handlers:
                if handler.http_methods != {"OPTIONS"}:
                    yield route.path_format, handler


def _declared_path(connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler) -> str:
    """Return the path as this handler declares it.

    Of two paths that differ only in parameter names, the framework reports one for both.
    """
    path: str = connection.scope["path_template"]
    paths = _paths_by_handler(connection.app)[id(route)]
    return path if path in paths else paths[0]


@lru_cache(maxsize=16)
def _paths_by_handler(app: Litestar) -> dict[int, list[str]]:
    paths: defaultdict[int, list[str]] = defaultdict(list)
    for path, handler in iterate_routes(app):
        paths[id(handler)].append(path)
    return paths


@lru_cache(maxsize=1024)
def _list_methods(app: Litestar, path: str) -> str:
    """List the methods of a path, also of paths that differ only in parameter names.

    The framework's own list omits these and methods that are added later.
    """
    methods = {
        method
        for other_path, handler in iterate_routes(app)
        if _PARAMETER.sub("{}", other_path) == _PARAMETER.sub("{}", path)
        for method in handler.http_methods
    }
    return ", ".join(sorted({*methods, "OPTIONS"}))


def refuse_undeclared_routes(app: Litestar) -> None:
    """Refuse to start if a route does not declare its audience, permissions and basis."""
    errors = []
    for path, handler in iterate_routes(app):
        missing = [name for name in REQUIRED_DECLARATIONS if name not in handler.opt]
        if handler.http_methods & MUTATING and "audited" not in handler.opt:
            missing.append("audited")
        if _must_declare_changes(handler) and not isinstance(handler.opt.get("changes"), Changes):
            missing.append("changes")
        if (
            not missing
            and Audience.portal in _list_audiences(handler)
            and path.startswith("/m/portal")
        ):
            missing += ["flag"] if "flag" not in handler.opt else []
        if missing:
            errors.append(f"{path} does not declare {', '.join(missing)}")
    if errors:
        raise RuntimeError("\n".join(errors))


def _must_declare_changes(handler: HTTPRouteHandler) -> bool:
    if not handler.http_methods & MUTATING:
        return False
    return "audiences" not in handler.opt or Audience.core in _list_audiences(handler)


def _list_audiences(handler: HTTPRouteHandler) -> Sequence[Audience]:
    audiences: Public | Sequence[Audience] = handler.opt["audiences"]
    return () if isinstance(audiences, Public) else audiences


def get_caller(context: RequestContext) -> Caller:
    assert context.caller is not None, "the gate runs before every handler that uses the caller"
    return context.caller
