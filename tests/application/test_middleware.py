"""The outermost layer: request ids, safe headers, addresses, slow and large bodies, log lines."""

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
SOUND = json.dumps(REQUIRED_FIELDS).encode()
CLIENT = {"grant_type": "client_credentials", "client_id": "c", "client_secret": "s"}

Ask = Callable[[Service], Any]
ANSWERS: dict[str, tuple[int, Ask]] = {
    "fine": (200, lambda s: s.http.get("/healthz")),
    "empty": (204, lambda s: s.http.options(GROUPS)),
    "moved": (302, lambda s: s.http.get("/", follow_redirects=False)),
    "malformed": (400, lambda s: s.http.post(GROUPS, content=b"{", headers=s.root() | JSON)),
    "no token": (401, lambda s: s.http.get(GROUPS)),
    "no right": (403, lambda s: s.http.get(GROUPS, headers=s.caller())),
    "no path": (404, lambda s: s.http.get("/nothing/here")),
    "no record": (404, lambda s: s.http.get(f"{GROUPS}/none/resource", headers=s.root())),
    "no method": (405, lambda s: s.http.delete(GROUPS, headers=s.root())),
    "too large": (413, lambda s: s.http.post(GROUPS, content=b"a" * 2**21, headers=s.root())),
    "other kind": (415, lambda s: s.http.post(GROUPS, content=b"a", headers=s.root())),
    "bad address": (400, lambda s: raw_request(s, "GET", b"/%00")),
    "token form": (401, lambda s: s.http.post("/core/access_token", data=CLIENT)),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_carries_a_request_id_and_safe_headers(service: Service, kind: str) -> None:
    status, ask = ANSWERS[kind]

    answer = ask(service)

    assert answer.status_code == status
    assert answer.headers["x-request-id"].startswith("req_")
    for name, value in (*SECURITY_HEADERS, *DEFAULT_HEADERS):
        assert answer.headers[name.decode()] == value.decode()


def test_no_two_requests_share_an_id_and_nobody_brings_their_own(service: Service) -> None:
    brought = {"X-Request-Id": CANARY}

    ids = {service.http.get("/healthz", headers=brought).headers["x-request-id"] for _ in range(20)}

    assert len(ids) == 20
    assert CANARY not in ids


def test_an_answer_that_says_its_own_policy_keeps_it(service: Service) -> None:
    answer = service.http.get("/docs")

    assert answer.status_code == 200
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "max-age=300"


def test_only_over_tls_is_tls_demanded_for_the_future(service: Service) -> None:
    name, value = (part.decode() for part in HSTS_HEADER)
    settings = replace(service.settings, base_url="https://billing.example")
    over_tls = add_middleware(service.app, settings)

    plain = service.http.get("/healthz")
    secure = raw_request(service, "GET", b"/healthz", app=over_tls)

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
def test_nul_and_broken_utf8_in_an_address_are_400(service: Service, path: bytes) -> None:
    answer = raw_request(service, "GET", path, headers=service.root())

    assert read_problem(answer, 400)["code"] == "malformed_address"


def test_an_address_in_any_script_is_fine(service: Service) -> None:
    path = "/m/core/billinggroup/さくら/resource".encode()

    answer = raw_request(service, "GET", path, headers=service.root())

    assert read_problem(answer, 404)["code"] == "not_found"


def test_a_body_may_come_in_pieces(service: Service) -> None:
    pieces = [SOUND[:10], b"", SOUND[10:11], SOUND[11:]]

    answer = raw_request(
        service, "POST", GROUPS.encode(), headers=JSON | service.root(), body=pieces
    )

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "pieces",
    [[Pause(5), SOUND], [piece for part in SOUND for piece in (Pause(0.1), bytes([part]))]],
    ids=["nothing comes", "it trickles"],
)
def test_a_body_that_takes_too_long_is_408(service: Service, pieces: list[BodyPart]) -> None:
    impatient = RequestMiddleware(service.app, body_seconds=1, is_https=False)
    headers = JSON | service.root()

    answer = raw_request(
        service, "POST", GROUPS.encode(), headers=headers, body=pieces, app=impatient
    )

    assert read_problem(answer, 408)["code"] == "body_too_slow"
    assert service.http.get(GROUPS, headers=service.root()).json() == []


def test_what_was_there_in_time_is_not_late_because_the_answer_took_long(service: Service) -> None:
    async def takes_long(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(1.2)
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": message["body"]})

    patient = RequestMiddleware(takes_long, body_seconds=1, is_https=False)

    answer = raw_request(service, "GET", b"/", body=[SOUND], app=patient)

    assert (answer.status_code, answer.body) == (200, SOUND)


def test_a_client_that_hangs_up_changes_nothing(service: Service) -> None:
    pieces: list[BodyPart] = [SOUND[:-1], DISCONNECT]

    answer = raw_request(
        service, "POST", GROUPS.encode(), headers=JSON | service.root(), body=pieces
    )

    assert read_problem(answer, 400)["code"] == "client_gone"
    assert service.http.get(GROUPS, headers=service.root()).json() == []


@pytest.mark.parametrize("declared", [True, False], ids=["content-length", "chunked"])
def test_a_body_that_is_too_large_is_413(service: Service, *, declared: bool) -> None:
    body = [b" " * 1024] * (JSON_BYTES_MAX // 1024) + [b"1"]
    length = {"Content-Length": str(JSON_BYTES_MAX + 1)} if declared else {}

    answer = raw_request(
        service, "POST", GROUPS.encode(), headers=service.root() | JSON | length, body=body
    )

    assert read_problem(answer, 413)["code"] == "body_too_large"


@pytest.mark.parametrize("declared", [True, False], ids=["content-length", "chunked"])
def test_a_token_form_that_is_too_large_is_413(service: Service, *, declared: bool) -> None:
    body = [b"a" * 1024] * (FORM_BYTES_MAX // 1024) + [b"1"]
    length = {"Content-Length": str(FORM_BYTES_MAX + 1)} if declared else {}
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    answer = raw_request(service, "POST", b"/core/access_token", headers=form | length, body=body)

    assert answer.status_code == 413


def test_a_body_declared_too_large_is_refused_unread(service: Service) -> None:
    headers = service.root() | JSON | {"Content-Length": "999999999999"}

    answer = raw_request(service, "POST", GROUPS.encode(), headers=headers, body=[Pause(60), b""])

    read_problem(answer, 413)


def test_the_largest_body_is_taken(service: Service) -> None:
    body = SOUND[:-1] + b" " * (JSON_BYTES_MAX - len(SOUND)) + b"}"

    answer = service.http.post(GROUPS, content=body, headers=service.root() | JSON)

    assert len(body) == JSON_BYTES_MAX
    assert answer.status_code == 200


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "99999999999999999999"])
def test_an_odd_content_length_is_no_surprise(service: Service, length: str) -> None:
    headers = service.root() | JSON | {"Content-Length": length}

    answer = raw_request(service, "POST", GROUPS.encode(), headers=headers, body=[b"{"])

    assert answer.status_code in (400, 413)


def test_each_request_leaves_one_line_that_names_the_route_and_no_value(service: Service) -> None:
    path = f"{GROUPS}/{CANARY}/resource?{CANARY}={CANARY}"
    headers = service.root() | {"User-Agent": CANARY}

    with capture_logs() as lines:
        answer = service.http.get(path, headers=headers)

    (line,) = [line for line in lines if line["event"] == "request"]
    assert line["route"] == "/m/core/billinggroup/{company_id}/resource"
    assert line["request_id"] == answer.headers["x-request-id"]
    assert (line["method"], line["status"]) == ("GET", 404)
    assert line["user_id"] == service.organisation.root_user_id
    assert CANARY not in repr(lines)


def test_a_method_nobody_knows_is_refused_and_not_repeated(service: Service) -> None:
    with capture_logs() as lines:
        answer = raw_request(service, CANARY.upper(), GROUPS.encode())
        unknown_path = raw_request(service, CANARY.upper(), b"/nothing/here")

    read_problem(answer, 405)
    read_problem(unknown_path, 404)
    said = service.http.get("/metrics").text
    assert CANARY.upper() not in repr(lines) + answer.text + said
    assert 'method="(other)"' in said


def test_405_says_what_is_allowed(service: Service) -> None:
    answer = service.http.delete(GROUPS, headers=service.root())

    read_problem(answer, 405)
    assert {word.strip() for word in answer.headers["allow"].split(",")} >= {"GET", "POST"}
