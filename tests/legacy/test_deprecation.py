"""Every response of version 3 announces its deprecation and its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from nimbill.legacy.deprecation import VERSION_3
from tests.contract.declared_routes import all_routes
from tests.identity.login.token_requests import LEGACY_TOKEN_PATH, client_form
from tests.legacy.agents import agent_headers, create_agent
from tests.legacy.roles.role_requests import master_headers
from tests.raw_request import raw_request
from tests.running_service import Service

STACKS = "/v3/alm/stack"
JSON = {"Content-Type": "application/json"}

Request = Callable[[Service], Any]
RESPONSES: dict[str, tuple[int, Request]] = {
    "fine": (200, lambda s: s.http.get(STACKS, headers=master_headers(s))),
    "a token": (200, lambda s: s.http.post(LEGACY_TOKEN_PATH, json=client_form(s.organisation))),
    "no such client": (
        401,
        lambda s: s.http.post(LEGACY_TOKEN_PATH, json={"grant_type": "password"}),
    ),
    "empty": (204, lambda s: s.http.options(STACKS)),
    "malformed": (
        400,
        lambda s: s.http.post("/v3/role", content=b"{", headers=master_headers(s) | JSON),
    ),
    "no token": (401, lambda s: s.http.get(STACKS)),
    "a core token": (401, lambda s: s.http.get(STACKS, headers=s.root())),
    "an agent": (403, lambda s: s.http.get(STACKS, headers=agent_headers(s, create_agent(s)))),
    "no record": (404, lambda s: s.http.get(f"{STACKS}/stk_1", headers=master_headers(s))),
    "no path": (404, lambda s: s.http.get("/v3/nothing/here")),
    "the prefix alone": (404, lambda s: s.http.get("/v3")),
    "no method": (405, lambda s: s.http.patch(STACKS, headers=master_headers(s))),
    "too large": (
        413,
        lambda s: s.http.post("/v3/role", content=b"a" * 2**21, headers=master_headers(s)),
    ),
    "bad address": (400, lambda s: raw_request(s, "GET", b"/v3/%00")),
}


@pytest.mark.parametrize("kind", RESPONSES)
def test_every_response_has_the_headers_also_errors(service: Service, kind: str) -> None:
    status, request = RESPONSES[kind]

    response = request(service)

    assert response.status_code == status
    assert response.headers["deprecation"] == f"@{int(VERSION_3.since.timestamp())}"
    assert parsedate_to_datetime(response.headers["sunset"]) == VERSION_3.until
    assert 'rel="deprecation"' in response.headers["link"]
    assert 'rel="sunset"' in response.headers["link"]


@pytest.mark.parametrize("path", ["/healthz", "/v3x", "/m/core/billinggroup", "/core/access_token"])
def test_other_paths_do_not_have_the_headers(service: Service, path: str) -> None:
    response = service.http.get(path)

    assert not {"deprecation", "sunset", "link"} & set(response.headers)


def test_the_links_lead_to_an_existing_page(service: Service) -> None:
    links = service.http.get(STACKS).headers["link"].split(", ")

    assert [link.partition(">")[2] for link in links] == [
        '; rel="deprecation"; type="text/html"',
        '; rel="sunset"; type="text/html"',
    ]
    for link in links:
        page = service.http.get(link.partition(">")[0].removeprefix("<"))
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")


def test_it_is_available_for_at_least_two_years() -> None:
    assert VERSION_3.since == datetime(2026, 11, 15, tzinfo=UTC)
    assert (VERSION_3.until - VERSION_3.since).days >= 2 * 365


def test_the_openapi_document_marks_version_3_only_as_deprecated(service: Service) -> None:
    document = json.loads(service.app.state.build_openapi_document())
    deprecated = {
        (method.upper(), path): operation.get("deprecated", False)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }

    for route in all_routes():
        if (route.method, route.path) in deprecated:
            assert deprecated[route.method, route.path] is route.path.startswith("/v3/"), route
    description = document["paths"]["/v3/role"]["get"]["description"]
    assert description.endswith("Deprecated since 2026-11-15; available until 2028-12-31.")
