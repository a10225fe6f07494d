"""Paths that differ by the name of a parameter alone are told apart by their methods."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial

from tests.contract.declared_routes import Route, all_routes
from tests.proof.asgi_calls import Request, app_of, call
from tests.running_service import Service


def shared() -> list[Route]:
    by_shape: defaultdict[str, list[Route]] = defaultdict(list)
    for route in all_routes():
        by_shape[re.sub(r"{[^}]*}", "{}", route.path)].append(route)
    return [
        route
        for routes in by_shape.values()
        if len({one.path for one in routes}) > 1
        for route in routes
    ]


def test_each_method_of_a_shared_address_knows_its_own_path(service: Service) -> None:
    """Logs and metrics name the route by it."""
    app, routes = app_of(service), shared()

    async def reached(route: Route) -> str | None:
        answer = await call(app, Request(route.method, route.fill_path().encode(), b"", []))
        assert answer.status == 401
        return answer.path_template

    assert {route.path for route in routes} >= {
        "/m/core/project/{month}",
        "/m/core/project/{project_id}",
    }
    for route in routes:
        assert service.run(partial(reached, route)) == route.path
