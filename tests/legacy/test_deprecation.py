"""Every answer of version 3 says since when it is deprecated and until when it stays."""

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

Ask = Callable[[Service], Any]
ANSWERS: dict[str, tuple[int, Ask]] = {
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


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_says_so_refusals_included(service: Service, kind: str) -> None:
    status, ask = ANSWERS[kind]

    answer = ask(service)

    assert answer.status_code == status
    assert answer.headers["deprecation"] == f"@{int(VERSION_3.since.timestamp())}"
    assert parsedate_to_datetime(answer.headers["sunset"]) == VERSION_3.until
    assert 'rel="deprecation"' in answer.headers["link"]
    assert 'rel="sunset"' in answer.headers["link"]


@pytest.mark.parametrize("path", ["/healthz", "/v3x", "/m/core/billinggroup", "/core/access_token"])
def test_nothing_else_says_so(service: Service, path: str) -> None:
    answer = service.http.get(path)

    assert not {"deprecation", "sunset", "link"} & set(answer.headers)


def test_the_links_lead_to_a_page_that_is_there(service: Service) -> None:
    links = service.http.get(STACKS).headers["link"].split(", ")

    assert [link.partition(">")[2] for link in links] == [
        '; rel="deprecation"; type="text/html"',
        '; rel="sunset"; type="text/html"',
    ]
    for link in links:
        page = service.http.get(link.partition(">")[0].removeprefix("<"))
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")


def test_it_is_deprecated_and_stays_for_two_years_at_least() -> None:
    assert VERSION_3.since == datetime(2026, 11, 15, tzinfo=UTC)
    assert (VERSION_3.until - VERSION_3.since).days >= 2 * 365


def test_the_api_page_shows_version_3_and_nothing_else_as_deprecated(service: Service) -> None:
    document = json.loads(service.app.state.openapi_document)
    shown = {
        (method.upper(), path): one.get("deprecated", False)
        for path, operations in document["paths"].items()
        for method, one in operations.items()
    }

    for route in all_routes():
        if (route.method, route.path) in shown:
            assert shown[route.method, route.path] is route.path.startswith("/v3/"), route
    said = document["paths"]["/v3/role"]["get"]["description"]
    assert said.endswith("Deprecated since 2026-11-15; it stays until 2028-12-31.")
