"""Health, readiness, metrics, the API page and the OpenAPI document."""

from __future__ import annotations

import asyncio
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from nimbill.access.gate import MUTATING, Public, iterate_routes
from nimbill.application.service_routes import PAGE_POLICY
from nimbill.database.embedded_postgres import Address
from tests.path_shapes import shape_of
from tests.problem_responses import read_problem
from tests.proof.asgi_calls import Answer, Request, app_of, call
from tests.raw_request import raw_request
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql


def test_healthz_reports_a_running_process(service: Service) -> None:
    response = service.http.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_readyz_reports_a_current_database_schema(service: Service) -> None:
    response = service.http.get("/readyz")

    assert (response.status_code, response.json()) == (200, {"status": "ready"})


def test_readyz_returns_503_while_a_migration_is_pending(
    empty_database: Address, tmp_path: Path
) -> None:
    with running_service(empty_database.url, tmp_path) as service:
        execute_sql(empty_database, "UPDATE alembic_version SET version_num = '0000'")
        outdated = service.http.get("/readyz")
        execute_sql(empty_database, "DELETE FROM alembic_version")
        unknown = service.http.get("/readyz")
        health = service.http.get("/healthz")

    for response in (outdated, unknown):
        assert read_problem(response, 503)["code"] == "database_outdated"
        assert int(response.headers["retry-after"]) > 0
    assert health.status_code == 200


def test_readyz_names_a_newer_database(empty_database: Address, tmp_path: Path) -> None:
    with running_service(empty_database.url, tmp_path) as service:
        execute_sql(empty_database, "UPDATE alembic_version SET version_num = '9999'")

        problem = read_problem(service.http.get("/readyz"), 503)

    assert problem["code"] == "database_outdated"
    assert problem["detail"].startswith("The database was migrated by a newer version of Nimbill.")


def test_metrics_count_requests_by_route_without_identifiers(service: Service) -> None:
    service.http.get("/m/core/billinggroup/some-company/resource", headers=service.root())

    text = service.read_metrics()
    response = service.http.get("/metrics")

    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    counter = (
        'nimbill_requests_total{method="GET",route="/m/core/billinggroup/{company_id}/resource"'
    )
    assert counter in text
    assert "nimbill_request_seconds_bucket" in text
    assert "some-company" not in text
    assert service.organisation.organisation_id not in text
    assert service.organisation.root_user_id not in text


def test_the_api_page_loads_only_files_of_this_service(service: Service) -> None:
    page = service.http.get("/docs")

    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == PAGE_POLICY
    assert "https://" not in page.text.replace("http://www.w3.org", "")
    file_names = [word for word in page.text.split('"') if word.endswith((".js", ".css", ".png"))]
    assert file_names
    for name in file_names:
        file = service.http.get(f"/docs/{name.rpartition('/')[2]}")
        assert file.status_code == 200, name
        assert file.headers["content-type"].startswith(("text/", "image/"))


@pytest.mark.parametrize(
    "path",
    [
        b"/docs/nothing.js",
        b"/docs/..",
        b"/docs/.",
        b"/docs/%2e%2e",
        b"/docs/..%2fapp.py",
        b"/docs/%2e%2e%2f%2e%2e%2fapp.py",
        b"/docs/..%5capp.py",
        b"/docs/../app.py",
        b"/docs/%2fetc%2fpasswd",
        b"/docs//etc/passwd",
        b"/docs/index.html%20",
        b"/docs/INDEX.HTML",
    ],
)
def test_other_files_are_not_served(service: Service, path: bytes) -> None:
    response = raw_request(service, "GET", path)

    assert read_problem(response, 404)["code"] == "not_found"


@pytest.fixture(scope="module")
def document(running: Service) -> dict[str, Any]:
    response = running.http.get("/openapi.json")
    assert response.headers["content-type"] == "application/json"
    document: dict[str, Any] = response.json()
    return document


def test_requests_at_the_same_time_build_the_openapi_document_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds: list[int] = []

    def build() -> bytes:
        builds.append(1)
        time.sleep(0.05)
        return b"{}"

    monkeypatch.setattr(service.app.state, "build_openapi_document", cache(build))
    app = app_of(service)

    async def read_at_once() -> list[Answer]:
        return await asyncio.gather(
            *(call(app, Request("GET", b"/openapi.json")) for _ in range(4))
        )

    answers = service.run(read_at_once)

    assert [(answer.status, answer.body) for answer in answers] == [(200, b"{}")] * 4
    assert len(builds) == 1


def test_the_openapi_document_has_title_and_server(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] == "Nimbill"
    assert document["servers"] == [{"url": "http://127.0.0.1:8080"}]


def test_the_openapi_document_is_valid(document: dict[str, Any]) -> None:
    assert list(OPENAPI_31_VALIDATOR.iter_errors(document)) == []
    assert list(OPENAPI_31_VALIDATOR.iter_errors({**document, "paths": []})) != []


def list_operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (shape_of(path), method.upper()): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def test_the_openapi_document_contains_every_route(
    running: Service, document: dict[str, Any]
) -> None:
    routes = {
        (shape_of(path), method)
        for path, handler in iterate_routes(running.app)
        for method in handler.http_methods
        if handler.resolve_include_in_schema()
    }

    assert set(list_operations(document)) == routes
    assert ("/m/core/billinggroup", "POST") in routes


def test_each_operation_documents_its_security_and_errors(
    running: Service, document: dict[str, Any]
) -> None:
    operations = list_operations(document)
    for path, handler in iterate_routes(running.app):
        for method in handler.http_methods:
            operation = operations.get((shape_of(path), method))
            if operation is None:
                continue
            public = isinstance(handler.opt["audiences"], Public)
            assert ("security" in operation) is not public, path
            assert {"400", "404", "503"} <= set(operation["responses"]), path
            may_conflict = method in MUTATING or "may_conflict" in handler.opt
            assert ("409" in operation["responses"]) is may_conflict, path
            assert str(handler.opt["basis"]) in operation["description"], path


def collect_references(node: Any) -> set[str]:
    if isinstance(node, dict):
        nested = set().union(*(collect_references(value) for value in node.values()))
        return nested | ({node["$ref"]} if isinstance(node.get("$ref"), str) else set())
    if isinstance(node, list):
        return set().union(*(collect_references(value) for value in node))
    return set()


def test_every_reference_of_the_openapi_document_resolves(document: dict[str, Any]) -> None:
    references = collect_references(document)

    assert references
    for reference in references:
        target: Any = document
        for step in reference.removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        assert isinstance(target, dict), reference


def test_operation_ids_are_unique_and_path_parameters_are_declared(
    document: dict[str, Any],
) -> None:
    operations = [
        (path, operation) for path, item in document["paths"].items() for operation in item.values()
    ]
    ids = [operation["operationId"] for _, operation in operations]

    assert len(ids) == len(set(ids))
    for path, operation in operations:
        expected = {part[1:-1] for part in path.split("/") if part.startswith("{")}
        declared = {
            parameter["name"]
            for parameter in operation.get("parameters", [])
            if parameter["in"] == "path"
        }
        assert expected == declared, path
