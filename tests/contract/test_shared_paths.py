"""Routes whose paths differ only in a parameter name are told apart by their methods."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial

from tests.contract.declared_routes import Route, all_routes
from tests.proof.asgi_calls import Request, app_of, call
from tests.running_service import Service


def routes_with_shared_paths() -> list[Route]:
    by_shape: defaultdict[str, list[Route]] = defaultdict(list)
    for route in all_routes():
        by_shape[re.sub(r"{[^}]*}", "{}", route.path)].append(route)
    return [
        route
        for routes in by_shape.values()
        if len({route.path for route in routes}) > 1
        for route in routes
    ]


def test_each_method_of_a_shared_path_reports_its_own_template(service: Service) -> None:
    """Logs and metrics use the template."""
    app, routes = app_of(service), routes_with_shared_paths()

    async def find_template(route: Route) -> str | None:
        answer = await call(app, Request(route.method, route.fill_path().encode(), b"", []))
        assert answer.status == 401
        return answer.path_template

    assert {route.path for route in routes} >= {
        "/m/core/project/{month}",
        "/m/core/project/{project_id}",
    }
    for route in routes:
        assert service.run(partial(find_template, route)) == route.path
