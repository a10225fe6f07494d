"""A user's route of version 3 that does not say what it needs keeps the service from starting."""

from __future__ import annotations

from typing import Any

import pytest
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from nimbill.access.gate import Public
from nimbill.access.role_actions import ANY_CALLER
from nimbill.application.app import litestar_app
from nimbill.foundation.basis import stated
from nimbill.foundation.settings import read_settings
from nimbill.http.routing import get
from nimbill.legacy import routes as legacy_routes
from nimbill.legacy.audiences import LEGACY_AGENT, LEGACY_USER
from nimbill.legacy.roles.permissions import NoScopeRequired, ScopeRequirement

STACK = "mrn:alm:stack:{stack_id}"


def route(audience: Any = LEGACY_USER, **facts: Any) -> HTTPRouteHandler:
    @get(
        "/quiet/{stack_id:str}",
        audiences=audience if isinstance(audience, Public) else [audience],
        role_actions=ANY_CALLER,
        basis=stated("Legacy lifecycle API"),
        **facts,
    )
    async def quiet(stack_id: FromPath[str]) -> None:
        """Says nothing."""

    return quiet


def start(monkeypatch: pytest.MonkeyPatch, one_more: HTTPRouteHandler) -> None:
    monkeypatch.setattr(legacy_routes, "ROUTES", [*legacy_routes.ROUTES, one_more])
    litestar_app(read_settings({}))


@pytest.mark.parametrize(
    "facts",
    [
        {"requires": ScopeRequirement("stack:describeStack", STACK)},
        {"requires": ScopeRequirement("stack:describeStack")},
        {"requires": NoScopeRequired("it is only a test")},
        {"master_account_only": True},
        {"audience": LEGACY_AGENT},
        {"audience": Public("it is only a test")},
    ],
    ids=repr,
)
def test_what_is_declared_starts(monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any]) -> None:
    start(monkeypatch, route(**facts))


@pytest.mark.parametrize(
    ("facts", "complaint"),
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
def test_what_is_not_keeps_it_from_starting(
    monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(RuntimeError) as refusal:
        start(monkeypatch, route(**facts))

    assert str(refusal.value) == f"/v3/quiet/{{stack_id}} {complaint}"
