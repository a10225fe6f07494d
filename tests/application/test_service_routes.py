"""Is it alive, is it ready, what does it count, and its API page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from nimbill.access.gate import MUTATING, Public, iterate_routes
from nimbill.application.service_routes import PAGE_POLICY
from nimbill.database.embedded_postgres import Address
from tests.problem_responses import read_problem
from tests.raw_request import raw_request
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql


def test_healthz_says_that_the_process_answers(service: Service) -> None:
    answer = service.http.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_readyz_says_that_the_database_is_of_this_version(service: Service) -> None:
    answer = service.http.get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


def test_readyz_is_503_while_the_database_awaits_a_migration(
    empty_database: Address, tmp_path: Path
) -> None:
    with running_service(empty_database.url, tmp_path) as service:
        execute_sql(empty_database, "UPDATE alembic_version SET version_num = '0000'")
        outdated = service.http.get("/readyz")
        execute_sql(empty_database, "DELETE FROM alembic_version")
        unknown = service.http.get("/readyz")
        alive = service.http.get("/healthz")

    for answer in (outdated, unknown):
        assert read_problem(answer, 503)["code"] == "database_outdated"
        assert int(answer.headers["retry-after"]) > 0
    assert alive.status_code == 200


def test_metrics_count_requests_by_route_and_name_nobody(service: Service) -> None:
    service.http.get("/m/core/billinggroup/some-company/resource", headers=service.root())

    answer = service.http.get("/metrics")

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    counted = (
        'nimbill_requests_total{method="GET",route="/m/core/billinggroup/{company_id}/resource"'
    )
    assert counted in answer.text
    assert "nimbill_request_seconds_bucket" in answer.text
    assert "some-company" not in answer.text
    assert service.organisation.organisation_id not in answer.text
    assert service.organisation.root_user_id not in answer.text


def test_the_front_leads_to_the_api_page(service: Service) -> None:
    answer = service.http.get("/", follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (302, "/docs")


def test_the_api_page_and_its_files_are_our_own(service: Service) -> None:
    page = service.http.get("/docs")

    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == PAGE_POLICY
    assert "https://" not in page.text.replace("http://www.w3.org", "")
    named = [word for word in page.text.split('"') if word.endswith((".js", ".css", ".png"))]
    assert named
    for name in named:
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
def test_a_file_that_is_not_of_the_api_page_is_not_there(service: Service, path: bytes) -> None:
    answer = raw_request(service, "GET", path)

    assert read_problem(answer, 404)["code"] == "not_found"


@pytest.fixture(scope="module")
def document(running: Service) -> dict[str, Any]:
    answer = running.http.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    document: dict[str, Any] = answer.json()
    return document


def test_the_openapi_document_names_itself_and_its_address(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] == "Nimbill"
    assert document["servers"] == [{"url": "http://127.0.0.1:8080"}]


def test_the_openapi_document_keeps_to_the_openapi_schema(document: dict[str, Any]) -> None:
    assert list(OPENAPI_31_VALIDATOR.iter_errors(document)) == []
    assert list(OPENAPI_31_VALIDATOR.iter_errors({**document, "paths": []})) != []


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (path, method.upper()): operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def test_every_route_of_ours_is_in_the_openapi_document(
    running: Service, document: dict[str, Any]
) -> None:
    ours = {
        (path, method)
        for path, handler in iterate_routes(running.app)
        for method in handler.http_methods
        if handler.resolve_include_in_schema()
    }

    assert set(operations(document)) == ours
    assert ("/m/core/billinggroup", "POST") in ours


def test_each_operation_tells_its_security_and_its_refusals(
    running: Service, document: dict[str, Any]
) -> None:
    described = operations(document)
    for path, handler in iterate_routes(running.app):
        for method in handler.http_methods:
            operation = described.get((path, method))
            if operation is None:
                continue
            public = isinstance(handler.opt["audiences"], Public)
            assert ("security" in operation) is not public, path
            assert {"400", "404", "503"} <= set(operation["responses"]), path
            assert ("409" in operation["responses"]) is (method in MUTATING), path
            assert str(handler.opt["basis"]) in operation["description"], path


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        below = set().union(*(references(value) for value in node.values()))
        return below | ({node["$ref"]} if isinstance(node.get("$ref"), str) else set())
    if isinstance(node, list):
        return set().union(*(references(value) for value in node))
    return set()


def test_every_reference_in_the_openapi_document_leads_somewhere(document: dict[str, Any]) -> None:
    found = references(document)

    assert found
    for reference in found:
        place: Any = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step.replace("~1", "/").replace("~0", "~")]
        assert isinstance(place, dict), reference


def test_operation_ids_are_unique_and_path_parameters_are_declared(
    document: dict[str, Any],
) -> None:
    described = operations(document)
    ids = [operation["operationId"] for operation in described.values()]

    assert len(ids) == len(set(ids))
    for (path, _), operation in described.items():
        wanted = {part[1:-1] for part in path.split("/") if part.startswith("{")}
        declared = {p["name"] for p in operation.get("parameters", []) if p["in"] == "path"}
        assert wanted == declared, path
