"""Lists every route with what it declares; the contract tests are parametrised by it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from nimbill.access.gate import MUTATING, Audience, Public, iterate_routes
from nimbill.access.role_actions import RoleAction
from nimbill.application.app import create_litestar_app
from nimbill.foundation.product import Product
from nimbill.foundation.settings import read_settings
from nimbill.http.routing import unwrap_optional
from nimbill.legacy.audiences import LEGACY_AGENT  # version 3

AUDIENCES_OF_AGENTS: list[list[Audience]] = [
    [LEGACY_AGENT],  # version 3
]


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    handler: HTTPRouteHandler
    query_names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def operation(self) -> str:
        """The name of the handler, which the operation and its test file share."""
        return self.handler.fn.__name__

    @property
    def is_public(self) -> bool:
        return isinstance(self.handler.opt["audiences"], Public)

    @property
    def is_mutating(self) -> bool:
        return self.method in MUTATING

    @property
    def products(self) -> list[Product]:
        """The products whose tokens the route accepts."""
        if self.is_public:
            return []
        return list(dict.fromkeys(audience.product for audience in self.handler.opt["audiences"]))

    @property
    def for_agents(self) -> bool:
        """Only agents of version 3, and API clients in their place, may call it."""
        return bool(self.handler.opt["audiences"] in AUDIENCES_OF_AGENTS)

    @property
    def session_only(self) -> bool:
        """Only a console session may call it, and no API client."""
        return bool(self.handler.opt.get("session_only"))

    @property
    def master_account_only(self) -> bool:
        """Only the master account of version 3 may call it, whatever roles others have."""
        return bool(self.handler.opt.get("master_account_only"))

    @property
    def role_actions(self) -> Sequence[RoleAction]:
        actions: Sequence[RoleAction] = self.handler.opt["role_actions"]
        return actions

    @property
    def path_names(self) -> list[str]:
        return re.findall(r"{([^}]+)}", self.path)

    @property
    def body(self) -> type[Any] | None:
        """The struct of the JSON body."""
        data = self.handler.parsed_fn_signature.parameters.get("data")
        return None if data is None else unwrap_optional(data.annotation)

    @property
    def parses_request(self) -> bool:
        """The handler parses the request itself, so the types do not show its body."""
        return "request" in self.handler.parsed_fn_signature.parameters

    def fill_path(self, **values: str) -> str:
        """The path with these values; a missing one becomes a word that names no record."""
        return re.sub(r"{([^}]+)}", lambda name: values.get(name[1], "anything"), self.path)


@cache
def declared_app() -> Litestar:
    """The application without a database."""
    return create_litestar_app(read_settings({}))


@cache
def all_routes() -> tuple[Route, ...]:
    return list_routes(declared_app())


def list_routes(app: Litestar) -> tuple[Route, ...]:
    """Our routes, one for each method and path."""
    document = json.loads(app.state.build_openapi_document())
    found = [
        Route(method, path, handler, _query_names(document, path, method))
        for path, handler in iterate_routes(app)
        for method in handler.http_methods
    ]
    return tuple(sorted(found, key=lambda route: (route.path, route.method)))


def _query_names(document: Any, path: str, method: str) -> tuple[str, ...]:
    operation = document["paths"].get(path, {}).get(method.lower(), {})
    parameters = operation.get("parameters", [])
    return tuple(each["name"] for each in parameters if each["in"] == "query")


def protected_routes() -> list[Route]:
    return [route for route in all_routes() if not route.is_public]
