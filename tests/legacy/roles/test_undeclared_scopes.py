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
from nimbill.legacy.roles.permission import Needs, Unscoped

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
        {"needs": Needs("stack:describeStack", STACK)},
        {"needs": Needs("stack:describeStack")},
        {"needs": Unscoped("it is only a test")},
        {"master_alone": True},
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
        ({}, "does not declare needs or master_alone"),
        ({"needs": None}, "does not declare needs or master_alone"),
        ({"needs": "stack:describeStack"}, "does not declare needs or master_alone"),
        ({"master_alone": False}, "does not declare needs or master_alone"),
        (
            {"needs": Needs("stack:describeStack", "mrn:alm:stack:{id}")},
            "needs id, which its path does not name",
        ),
        (
            {"needs": Unscoped("no"), "master_alone": True},
            "is the master account's alone and asks a scope too",
        ),
        (
            {"audience": LEGACY_AGENT, "needs": Needs("stack:describeStack")},
            "asks agents for a scope, and they have none",
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
