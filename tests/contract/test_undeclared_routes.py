"""The service does not start with a route that lacks a declaration."""

from typing import Any

import pytest
from litestar import Litestar, Router
from litestar.handlers import HTTPRouteHandler

from nimbill.access.gate import Audience, Changes, Public, Unaudited, refuse_undeclared_routes
from nimbill.access.role_actions import ANY_CALLER, RoleAction
from nimbill.application import app as application
from nimbill.application.app import create_litestar_app
from nimbill.foundation.basis import chosen
from nimbill.foundation.settings import read_settings
from nimbill.http.routing import get, post

FACTS: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ReadAudit],
    "basis": chosen("audit-log"),
    "audited": Unaudited("a test route"),
    "changes": Changes.shared_records,
}


def route(**facts: Any) -> HTTPRouteHandler:
    @post("/write", **facts)
    async def write() -> None:
        """Does nothing."""

    return write


def test_the_service_starts_with_a_complete_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "CORE_ROUTES", [*application.CORE_ROUTES, route(**FACTS)])

    assert create_litestar_app(read_settings({})).state.build_openapi_document()


@pytest.mark.parametrize("missing", FACTS)
def test_a_missing_declaration_is_reported(missing: str) -> None:
    facts = {name: fact for name, fact in FACTS.items() if name != missing}

    with pytest.raises(RuntimeError, match=rf"^/write does not declare {missing}$"):
        refuse_undeclared_routes(Litestar([route(**facts)], openapi_config=None))


def test_the_application_refuses_an_undeclared_route(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {name: fact for name, fact in FACTS.items() if name != "basis"}
    monkeypatch.setattr(application, "CORE_ROUTES", [*application.CORE_ROUTES, route(**facts)])

    with pytest.raises(RuntimeError, match=r"/m/core/write does not declare basis$"):
        create_litestar_app(read_settings({}))


def test_all_missing_declarations_are_reported_at_once() -> None:
    with pytest.raises(RuntimeError) as refusal:
        refuse_undeclared_routes(Litestar([route()], openapi_config=None))

    assert str(refusal.value) == f"/write does not declare {', '.join(FACTS)}"


def test_a_worker_does_not_start_with_an_undeclared_route(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(application, "CORE_ROUTES", [*application.CORE_ROUTES, route()])
    monkeypatch.setattr(application, "configure_logs", lambda: None)

    with pytest.raises(RuntimeError, match="does not declare"):
        application.create_app()


@pytest.mark.parametrize("audiences", [[Audience.portal], [Audience.core, Audience.portal]])
def test_a_portal_route_declares_its_flag_too(audiences: list[Audience]) -> None:
    facts = FACTS | {"audiences": audiences}

    with pytest.raises(RuntimeError, match="does not declare flag"):
        refuse_undeclared_routes(portal_app(route(**facts)))

    refuse_undeclared_routes(portal_app(route(**facts, flag="invoice")))


def portal_app(handler: HTTPRouteHandler) -> Litestar:
    return Litestar([Router("/m/portal", route_handlers=[handler])], openapi_config=None)


def test_a_route_for_other_products_need_not_declare_what_it_changes() -> None:
    facts = FACTS | {"audiences": [Audience.portal]}
    del facts["changes"]

    refuse_undeclared_routes(Litestar([route(**facts)], openapi_config=None))


def test_a_route_that_reads_needs_no_audit_declaration() -> None:
    @get("/read", audiences=Public("a test"), role_actions=ANY_CALLER, basis=chosen("audit-log"))
    async def read() -> None:
        """Does nothing."""

    refuse_undeclared_routes(Litestar([read], openapi_config=None))
