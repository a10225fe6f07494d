"""The one gate in front of every route."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from litestar import Litestar, Request
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.routes import HTTPRoute

from nimbill.access.caller import Caller
from nimbill.access.request_context import RequestContext, Resources, request_context_of
from nimbill.access.role_actions import RoleAction
from nimbill.access.tokens import SUBJECT_TYPES, Claims, kid_of
from nimbill.access.uploads import is_upload
from nimbill.foundation.errors import NotAuthenticated, NotPermitted, TooMany
from nimbill.foundation.vocabulary import Product

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
Audience.portal = Audience("portal", Product.portal)


@dataclass(frozen=True, slots=True)
class Public:
    """No token is asked for, and why that is right."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unaudited:
    """A call that is sent like a change but changes nothing, and why."""

    reason: str


_PARAMETER = re.compile(r"{[^}]*}")

# what every route declares beside its path; a mutating one also says what it audits
DECLARED = ("audiences", "role_actions", "basis")


async def gate(connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler) -> None:
    """Token, rate, body, caller, role action: in this order, cheapest and safest first."""
    visit = request_context_of(connection.scope)
    method = connection.scope.get("method")
    if method == "OPTIONS":
        visit.methods = _methods_of(connection.app, connection.scope["path_template"])
        return
    visit.route = connection.scope["path_template"] = _path_of(connection, route)
    if isinstance(route.opt["audiences"], Public):
        return
    resources: Resources = connection.app.state.resources
    claims = await _claims(connection, resources)
    _refuse_other_audience(claims, route.opt["audiences"])
    if not resources.within_rate(claims.user_id):
        raise TooMany("rate_exceeded", "too many requests in a second", retry_after=1)
    # a slow sender must not hold a database connection: the body first, then the transaction
    if method in MUTATING and isinstance(connection, Request):
        if "uploads" in route.opt and is_upload(connection.headers.get("content-type", "")):
            # files go to disk, and only those of somebody who may send them
            await _admit(connection, route, claims)
            await visit.close()
            await visit.receive(connection, resources.settings.data / "uploads")
        else:
            await connection.body()
    connection.scope["user"] = await _admit(connection, route, claims)


async def _admit(
    connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler, claims: Claims
) -> Caller:
    """Whoever calls, found in the request's own transaction, and allowed to."""
    resources: Resources = connection.app.state.resources
    caller = await request_context_of(connection.scope).enter(resources, claims)
    if caller is None:
        raise NotAuthenticated("token_invalid", "the bearer token does not stand")
    _refuse_hidden(caller, route.opt.get("flag"))
    if not _is_oneself(connection, caller, route.opt.get("oneself")):
        _refuse_hidden(caller, route.opt.get("flag_over_others"))
        _refuse_without_action(caller, await _role_actions(connection, route))
    return caller


def _refuse_other_audience(claims: Claims, audiences: Sequence[Audience]) -> None:
    of_product = [audience for audience in audiences if audience.product == claims.product]
    if not of_product:
        raise NotAuthenticated("token_of_other_product", "a token of another product is needed")
    if not any(claims.subject_type in audience.subject_types for audience in of_product):
        raise NotPermitted("grant_not_admitted", "a token of another grant type is needed")


def _refuse_hidden(caller: Caller, flag: str | None) -> None:
    """A reseller reaches only what its display flags show; nobody else is bound by them."""
    if flag is not None and caller.flags is not None and not caller.flags.get(flag, False):
        raise NotPermitted("flag_off", "this is not switched on for the account")


def _is_oneself(
    connection: ASGIConnection[Any, Any, Any, Any], caller: Caller, parameter: str | None
) -> bool:
    """A route may be open to the user its path names, by id or by name, whatever his roles."""
    if parameter is None:
        return False
    named = str(connection.path_params[parameter])
    return named == caller.user_id or named.lower() == caller.username.lower()


async def _role_actions(
    connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler
) -> Sequence[RoleAction]:
    """A route may read without a body and change with one; then it declares both."""
    with_body = route.opt.get("role_actions_with_body")
    if with_body is not None and isinstance(connection, Request) and await connection.body():
        actions: Sequence[RoleAction] = with_body
    else:
        actions = route.opt["role_actions"]
    return actions


def _refuse_without_action(caller: Caller, role_actions: Sequence[RoleAction]) -> None:
    if not caller.may(role_actions):
        raise NotPermitted("role_action_missing", f"needs one of: {', '.join(role_actions)}")


async def _claims(connection: ASGIConnection[Any, Any, Any, Any], resources: Resources) -> Claims:
    token = _bearer_token(connection)
    kid = kid_of(token) if not resources.tokens.holds(token) else None
    if kid is not None and not resources.tokens.knows(kid):
        await resources.look_for_new_keys()
    return resources.tokens.read(token)


def _bearer_token(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    given = connection.headers.getall("authorization", [])
    if not given:
        raise NotAuthenticated("token_missing", "a bearer token is required")
    scheme, _, token = given[0].partition(" ")
    if len(given) > 1 or scheme.lower() != "bearer" or not token:
        raise NotAuthenticated("token_invalid", "the bearer token does not stand")
    return token


def own_routes(app: Litestar) -> Iterator[tuple[str, HTTPRouteHandler]]:
    """Every route of ours with its path; the OPTIONS answers of the framework are left out."""
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for handler in route.route_handlers:
                if handler.http_methods != {"OPTIONS"}:
                    yield route.path_format, handler


def _path_of(connection: ASGIConnection[Any, Any, Any, Any], route: BaseRouteHandler) -> str:
    """The framework knows one path for an address whose parameters have two names."""
    found: str = connection.scope["path_template"]
    paths = _paths(connection.app)[id(route)]
    return found if found in paths else paths[0]


@lru_cache(maxsize=16)
def _paths(app: Litestar) -> dict[int, list[str]]:
    paths: defaultdict[int, list[str]] = defaultdict(list)
    for path, handler in own_routes(app):
        paths[id(handler)].append(path)
    return paths


@lru_cache(maxsize=1024)
def _methods_of(app: Litestar, path: str) -> str:
    """All of a path, whatever its parameters are called; the framework's own answer forgets some.

    Those that were added after the first, and those of the same address with other names in it.
    """
    methods = {
        method
        for found, handler in own_routes(app)
        if _PARAMETER.sub("{}", found) == _PARAMETER.sub("{}", path)
        for method in handler.http_methods
    }
    return ", ".join(sorted({*methods, "OPTIONS"}))


def refuse_undeclared_routes(app: Litestar) -> None:
    """Run at start-up: a route without a declared gate must never be served."""
    complaints = []
    for path, handler in own_routes(app):
        missing = [name for name in DECLARED if name not in handler.opt]
        if handler.http_methods & MUTATING and "audited" not in handler.opt:
            missing.append("audited")
        if not missing and Audience.portal in _audiences(handler) and path.startswith("/m/portal"):
            missing += ["flag"] if "flag" not in handler.opt else []
        if missing:
            complaints.append(f"{path} does not declare {', '.join(missing)}")
    if complaints:
        raise RuntimeError("\n".join(complaints))


def _audiences(handler: HTTPRouteHandler) -> Sequence[Audience]:
    audiences: Public | Sequence[Audience] = handler.opt["audiences"]
    return () if isinstance(audiences, Public) else audiences


def caller_in(visit: RequestContext) -> Caller:
    assert visit.caller is not None, "the gate stands before every handler that asks for a caller"
    return visit.caller
