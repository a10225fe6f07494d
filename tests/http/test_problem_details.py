"""Error responses from rules, the framework, the database and programming errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from nimbill.foundation.errors import Conflict, NotAuthenticated, TooManyRequests, Violation
from nimbill.http.problem_details import build_conflict, problem_response
from tests.problem_responses import CANARY, read_problem
from tests.raw_request import raw_request
from tests.running_service import Service

GROUPS = "/m/core/billinggroup"


def test_an_error_is_written_as_problem_details() -> None:
    refusal = Conflict("some_reason", "a sentence", [Violation("a", "required")])

    response = problem_response(refusal, "req_1")

    assert response.status_code == 409
    assert response.media_type == "application/problem+json"
    assert json.loads(response.content) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": "a sentence",
        "code": "some_reason",
        "instance": "urn:request:req_1",
        "violations": [{"field": "a", "rule": "required"}],
    }


def test_any_text_is_encoded_as_ascii() -> None:
    response = problem_response(Conflict("reason", "half a pair \ud800 and a \0"), "req_1")

    assert response.content.isascii()
    assert json.loads(response.content)["detail"] == "half a pair \ud800 and a \0"


def test_401_names_the_scheme_and_429_the_delay() -> None:
    unknown = problem_response(
        NotAuthenticated("token_missing", "a bearer token is required"), "req_1"
    )
    too_many = problem_response(
        TooManyRequests("rate_exceeded", "too many", retry_after=7), "req_1"
    )

    assert unknown.headers["WWW-Authenticate"] == "Bearer"
    assert too_many.headers["Retry-After"] == "7"
    assert "violations" not in json.loads(too_many.content)


@pytest.mark.parametrize("error", [ValueError(CANARY), KeyError(CANARY), RecursionError(CANARY)])
def test_a_programming_error_is_500_without_details(
    service: Service, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail(*_: object) -> Any:
        raise error

    monkeypatch.setattr("nimbill.customers.billing_groups.records.list_billing_groups", fail)
    with capture_logs() as lines:
        response = service.http.get(GROUPS, headers=service.root())

    assert read_problem(response, 500)["code"] == "internal_error"
    assert type(error).__name__ not in response.text
    request_id = response.headers["x-request-id"]
    logged = [line["event"] for line in lines if line.get("request_id") == request_id]
    assert logged.count("unexpected_error") == 1


def test_a_failed_request_returns_its_connection(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More failures than the pool has connections do not block the next request."""

    async def fail(*_: object) -> Any:
        raise ValueError

    with monkeypatch.context() as broken:
        broken.setattr("nimbill.customers.billing_groups.records.list_billing_groups", fail)
        for _ in range(30):
            assert service.http.get(GROUPS, headers=service.root()).status_code == 500

    assert service.http.get(GROUPS, headers=service.root()).status_code == 200


@pytest.mark.parametrize(
    ("constraint", "code"),
    [
        ("billinggroup_id_taken", "billinggroup_id_taken"),
        ("users_username_taken", "users_username_taken"),
        ("billing_groups_pkey", "conflict"),
        ("", "conflict"),
        (None, "conflict"),
    ],
)
def test_a_constraint_violation_is_409_with_its_name(constraint: str | None, code: str) -> None:
    driver_error = Exception(CANARY)
    cause = Exception()
    cause.constraint_name = constraint  # type: ignore[attr-defined]
    driver_error.__cause__ = cause

    refusal = build_conflict(IntegrityError("", {}, driver_error))

    assert (refusal.status, refusal.code) == (409, code)
    assert CANARY not in refusal.detail


def test_a_constraint_error_without_a_name_is_a_conflict() -> None:
    assert build_conflict(IntegrityError("", {}, Exception())).code == "conflict"


@pytest.mark.parametrize("host", ["", "a b", "host/path", f"{CANARY}@host", "x" * 5000])
def test_an_invalid_host_header_is_handled(service: Service, host: str) -> None:
    response = raw_request(service, "GET", b"/healthz", headers={"Host": host})

    assert response.status_code in (200, 400)
    assert CANARY not in response.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept": "text/html"},
        {"Accept": f"{CANARY}/*;q=nonsense"},
        {"Accept-Encoding": "gzip, br"},
        {"Range": "bytes=0-1"},
        {"Expect": "100-continue"},
        {"If-None-Match": "*"},
        {"Cookie": "a=b; =; ;;"},
        {"X-HTTP-Method-Override": "DELETE"},
        {"X-Forwarded-For": CANARY},
        {"Forwarded": f"for={CANARY};host={CANARY}"},
        {"Content-Length": "5"},
        {"Transfer-Encoding": "chunked"},
    ],
)
def test_unsupported_headers_change_nothing(service: Service, headers: dict[str, str]) -> None:
    plain = service.http.get(GROUPS, headers=service.root())

    response = raw_request(service, "GET", GROUPS.encode(), headers=service.root() | headers)

    assert (response.status_code, response.body) == (plain.status_code, plain.content)
