"""The service does not start if a route of version 3 does not declare what it requires."""

from __future__ import annotations

from typing import Any

import pytest
from litestar import Litestar, Router
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from nimbill.access.gate import Public
from nimbill.access.role_actions import ANY_CALLER
from nimbill.application.app import create_litestar_app
from nimbill.foundation.basis import stated
from nimbill.foundation.settings import read_settings
from nimbill.http.routing import get
from nimbill.legacy import routes as legacy_routes
from nimbill.legacy.audiences import LEGACY_AGENT, LEGACY_USER
from nimbill.legacy.roles.guard import refuse_routes_without_scope
from nimbill.legacy.roles.permissions import NoScopeRequired, ScopeRequirement

STACK = "mrn:alm:stack:{stack_id}"


def build_route(audience: Any = LEGACY_USER, **options: Any) -> HTTPRouteHandler:
    @get(
        "/example/{stack_id:str}",
        audiences=audience if isinstance(audience, Public) else [audience],
        role_actions=ANY_CALLER,
        basis=stated("Legacy lifecycle API"),
        **options,
    )
    async def example(stack_id: FromPath[str]) -> None:
        """Does nothing."""

    return example


def check(route: HTTPRouteHandler) -> None:
    refuse_routes_without_scope(Litestar([Router("/v3", route_handlers=[route])]))


@pytest.mark.parametrize(
    "options",
    [
        {"requires": ScopeRequirement("stack:describeStack", STACK)},
        {"requires": ScopeRequirement("stack:describeStack")},
        {"requires": NoScopeRequired("a test")},
        {"master_account_only": True},
        {"audience": LEGACY_AGENT},
        {"audience": Public("a test")},
    ],
    ids=repr,
)
def test_a_complete_declaration_is_accepted(options: dict[str, Any]) -> None:
    check(build_route(**options))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "does not declare requires or master_account_only"),
        ({"requires": None}, "does not declare requires or master_account_only"),
        ({"requires": "stack:describeStack"}, "does not declare requires or master_account_only"),
        ({"master_account_only": False}, "does not declare requires or master_account_only"),
        (
            {"requires": ScopeRequirement("stack:describeStack", "mrn:alm:stack:{id}")},
            "requires id, which its path does not contain",
        ),
        (
            {"requires": NoScopeRequired("no"), "master_account_only": True},
            "is for the master account only and also requires a scope",
        ),
        (
            {"audience": LEGACY_AGENT, "requires": ScopeRequirement("stack:describeStack")},
            "requires a scope of agents, which have none",
        ),
    ],
    ids=repr,
)
def test_an_incomplete_declaration_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(RuntimeError) as refused:
        check(build_route(**options))

    assert str(refused.value) == f"/v3/example/{{stack_id}} {problem}"


def test_the_application_checks_its_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy_routes, "ROUTES", [*legacy_routes.ROUTES, build_route()])

    with pytest.raises(RuntimeError, match="does not declare requires or master_account_only"):
        create_litestar_app(read_settings({}))
