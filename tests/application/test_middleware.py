"""Request ids, security headers, malformed addresses, slow and large bodies, and log lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from nimbill.application.app import JSON_BYTES_MAX, add_middleware
from nimbill.application.middleware import (
    DEFAULT_HEADERS,
    HSTS_HEADER,
    SECURITY_HEADERS,
    RequestMiddleware,
)
from nimbill.http.forms import FORM_BYTES_MAX
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.problem_responses import CANARY, read_problem
from tests.raw_request import DISCONNECT, BodyPart, Pause, raw_request
from tests.running_service import Service

GROUPS = "/m/core/billinggroup"
JSON = {"Content-Type": "application/json"}
VALID_BODY = json.dumps(REQUIRED_FIELDS).encode()
CLIENT = {"grant_type": "client_credentials", "client_id": "c", "client_secret": "s"}

SendRequest = Callable[[Service], Any]
REQUESTS: dict[str, tuple[int, SendRequest]] = {
    "success": (200, lambda s: s.http.get("/healthz")),
    "no content": (204, lambda s: s.http.options(GROUPS)),
    "redirect": (302, lambda s: s.http.get("/", follow_redirects=False)),
    "malformed": (400, lambda s: s.http.post(GROUPS, content=b"{", headers=s.root() | JSON)),
    "no token": (401, lambda s: s.http.get(GROUPS)),
    "no permission": (403, lambda s: s.http.get(GROUPS, headers=s.caller())),
    "unknown path": (404, lambda s: s.http.get("/nothing/here")),
    "unknown record": (404, lambda s: s.http.get(f"{GROUPS}/none/resource", headers=s.root())),
    "unknown method": (405, lambda s: s.http.delete(GROUPS, headers=s.root())),
    "too large": (413, lambda s: s.http.post(GROUPS, content=b"a" * 2**21, headers=s.root())),
    "unsupported type": (415, lambda s: s.http.post(GROUPS, content=b"a", headers=s.root())),
    "malformed address": (400, lambda s: raw_request(s, "GET", b"/%00")),
    "token form": (401, lambda s: s.http.post("/core/access_token", data=CLIENT)),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_every_response_has_a_request_id_and_security_headers(service: Service, kind: str) -> None:
    status, send_request = REQUESTS[kind]

    response = send_request(service)

    assert response.status_code == status
    assert response.headers["x-request-id"].startswith("req_")
    for name, value in (*SECURITY_HEADERS, *DEFAULT_HEADERS):
        assert response.headers[name.decode()] == value.decode()


def test_request_ids_are_unique_and_not_taken_from_the_client(service: Service) -> None:
    headers = {"X-Request-Id": CANARY}

    ids = {service.http.get("/healthz", headers=headers).headers["x-request-id"] for _ in range(20)}

    assert len(ids) == 20
    assert CANARY not in ids


def test_a_response_keeps_its_own_policy(service: Service) -> None:
    response = service.http.get("/docs")

    assert response.status_code == 200
    assert "script-src 'self'" in response.headers["content-security-policy"]
    assert response.headers["cache-control"] == "max-age=300"


def test_hsts_is_sent_only_over_https(service: Service) -> None:
    name, value = (part.decode() for part in HSTS_HEADER)
    settings = replace(service.settings, base_url="https://billing.example")
    https_app = add_middleware(service.app, settings)

    plain = service.http.get("/healthz")
    secure = raw_request(service, "GET", b"/healthz", app=https_app)

    assert name not in plain.headers
    assert secure.headers[name] == value


@pytest.mark.parametrize(
    "path",
    [
        b"/%00",
        b"/m/core/billinggroup/%00/resource",
        b"/m/core/billinggroup/%ff/resource",
        b"/m/core/billinggroup/%c0%80/resource",
        b"/m/core/billinggroup/%ed%a0%80/resource",
        b"/m/core/billinggroup/\xff/resource",
        b"/m/core/audit?actor=%00",
        b"/m/core/audit?actor=a%FFb",
        b"/m/core/audit?%00=1",
        b"/m/core/audit?actor=\xff",
        b"/healthz?canary-7c1f=%00",
    ],
)
def test_nul_and_invalid_utf8_in_an_address_are_refused(service: Service, path: bytes) -> None:
    response = raw_request(service, "GET", path, headers=service.root())

    assert read_problem(response, 400)["code"] == "malformed_address"


def test_an_address_may_contain_any_script(service: Service) -> None:
    path = "/m/core/billinggroup/さくら/resource".encode()

    response = raw_request(service, "GET", path, headers=service.root())

    assert read_problem(response, 404)["code"] == "not_found"


def test_an_address_is_decoded_once(service: Service) -> None:
    path = b"/m/core/billinggroup/%2500/resource"

    response = raw_request(service, "GET", path, headers=service.root())

    assert read_problem(response, 404)["code"] == "not_found"


def test_a_body_may_arrive_in_parts(service: Service) -> None:
    pieces = [VALID_BODY[:10], b"", VALID_BODY[10:11], VALID_BODY[11:]]

    response = raw_request(
        service, "POST", GROUPS.encode(), headers=JSON | service.root(), body=pieces
    )

    assert response.status_code == 200


@pytest.mark.parametrize(
    "pieces",
    [
        [Pause(5), VALID_BODY],
        [piece for part in VALID_BODY for piece in (Pause(0.1), bytes([part]))],
    ],
    ids=["no data", "slow data"],
)
def test_a_slow_body_is_refused_with_408(service: Service, pieces: list[BodyPart]) -> None:
    app = RequestMiddleware(service.app, body_seconds=1, is_https=False)
    headers = JSON | service.root()

    response = raw_request(service, "POST", GROUPS.encode(), headers=headers, body=pieces, app=app)

    assert read_problem(response, 408)["code"] == "body_too_slow"
    assert service.http.get(GROUPS, headers=service.root()).json() == []


def test_a_body_that_arrived_in_time_is_accepted_by_a_slow_handler(service: Service) -> None:
    async def slow_app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(1.2)
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": message["body"]})

    app = RequestMiddleware(slow_app, body_seconds=1, is_https=False)

    response = raw_request(service, "GET", b"/", body=[VALID_BODY], app=app)

    assert (response.status_code, response.body) == (200, VALID_BODY)


def test_a_disconnect_during_the_body_changes_nothing(service: Service) -> None:
    pieces: list[BodyPart] = [VALID_BODY[:-1], DISCONNECT]

    response = raw_request(
        service, "POST", GROUPS.encode(), headers=JSON | service.root(), body=pieces
    )

    assert read_problem(response, 400)["code"] == "client_gone"
    assert service.http.get(GROUPS, headers=service.root()).json() == []


@pytest.mark.parametrize("declared", [True, False], ids=["content-length", "chunked"])
def test_a_body_that_is_too_large_is_refused_with_413(service: Service, *, declared: bool) -> None:
    body = [b" " * 1024] * (JSON_BYTES_MAX // 1024) + [b"1"]
    length = {"Content-Length": str(JSON_BYTES_MAX + 1)} if declared else {}

    response = raw_request(
        service, "POST", GROUPS.encode(), headers=service.root() | JSON | length, body=body
    )

    assert read_problem(response, 413)["code"] == "body_too_large"


@pytest.mark.parametrize("declared", [True, False], ids=["content-length", "chunked"])
def test_a_token_form_that_is_too_large_is_refused_with_413(
    service: Service, *, declared: bool
) -> None:
    body = [b"a" * 1024] * (FORM_BYTES_MAX // 1024) + [b"1"]
    length = {"Content-Length": str(FORM_BYTES_MAX + 1)} if declared else {}
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    response = raw_request(service, "POST", b"/core/access_token", headers=form | length, body=body)

    assert response.status_code == 413


def test_a_body_declared_too_large_is_refused_without_reading(service: Service) -> None:
    headers = service.root() | JSON | {"Content-Length": "999999999999"}

    response = raw_request(service, "POST", GROUPS.encode(), headers=headers, body=[Pause(60), b""])

    read_problem(response, 413)


def test_a_body_of_the_maximum_size_is_accepted(service: Service) -> None:
    body = VALID_BODY[:-1] + b" " * (JSON_BYTES_MAX - len(VALID_BODY)) + b"}"

    response = service.http.post(GROUPS, content=body, headers=service.root() | JSON)

    assert len(body) == JSON_BYTES_MAX
    assert response.status_code == 200


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "99999999999999999999"])
def test_an_invalid_content_length_is_refused(service: Service, length: str) -> None:
    headers = service.root() | JSON | {"Content-Length": length}

    response = raw_request(service, "POST", GROUPS.encode(), headers=headers, body=[b"{"])

    assert response.status_code in (400, 413)


def test_each_request_logs_one_line_with_its_route_and_no_values(service: Service) -> None:
    path = f"{GROUPS}/{CANARY}/resource?{CANARY}={CANARY}"
    headers = service.root() | {"User-Agent": CANARY}

    with capture_logs() as lines:
        response = service.http.get(path, headers=headers)

    request_id = response.headers["x-request-id"]
    (line,) = [line for line in lines if line.get("request_id") == request_id]
    assert line["event"] == "request"
    assert line["route"] == "/m/core/billinggroup/{company_id}/resource"
    assert (line["method"], line["status"]) == ("GET", 404)
    assert 0 <= line["ms"] < 600_000
    assert line["user_id"] == service.organisation.root_user_id
    assert CANARY not in repr(lines)


def test_an_unknown_method_is_refused_and_not_logged(service: Service) -> None:
    with capture_logs() as lines:
        response = raw_request(service, CANARY.upper(), GROUPS.encode())
        unknown_path = raw_request(service, CANARY.upper(), b"/nothing/here")

    read_problem(response, 405)
    read_problem(unknown_path, 404)
    metrics = service.read_metrics()
    assert CANARY.upper() not in repr(lines) + response.text + metrics
    assert 'method="(other)"' in metrics


def test_405_lists_the_allowed_methods(service: Service) -> None:
    response = service.http.delete(GROUPS, headers=service.root())

    read_problem(response, 405)
    assert {word.strip() for word in response.headers["allow"].split(",")} >= {"GET", "POST"}
