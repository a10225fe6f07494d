"""Answers that say no, whoever said it first: a rule, the framework, the database, a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError
from structlog.testing import capture_logs

from nimbill.foundation.errors import Conflict, NotAuthenticated, TooMany, Violation
from nimbill.http.problem_details import conflict_of, problem
from tests.answers import CANARY, problem_of
from tests.raw_request import raw_request
from tests.running_service import Service

GROUPS = "/m/core/billinggroup"


def test_a_refusal_is_written_as_problem_details() -> None:
    refusal = Conflict("some_reason", "a sentence", [Violation("a", "required")])

    answer = problem(refusal, "req_1")

    assert answer.status_code == 409
    assert answer.media_type == "application/problem+json"
    assert json.loads(answer.content) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": "a sentence",
        "code": "some_reason",
        "instance": "urn:request:req_1",
        "violations": [{"field": "a", "rule": "required"}],
    }


def test_no_text_whatever_can_break_the_answer() -> None:
    answer = problem(Conflict("reason", "half a pair \ud800 and a \0"), "req_1")

    assert answer.content.isascii()
    assert json.loads(answer.content)["detail"] == "half a pair \ud800 and a \0"


def test_401_names_the_scheme_and_429_the_time() -> None:
    unknown = problem(NotAuthenticated("token_missing", "a bearer token is required"), "req_1")
    too_many = problem(TooMany("rate_exceeded", "too many", retry_after=7), "req_1")

    assert unknown.headers["WWW-Authenticate"] == "Bearer"
    assert too_many.headers["Retry-After"] == "7"
    assert "violations" not in json.loads(too_many.content)


@pytest.mark.parametrize("error", [ValueError(CANARY), KeyError(CANARY), RecursionError(CANARY)])
def test_a_fault_of_ours_is_500_without_a_word_of_what_it_was(
    service: Service, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def fail(*_: object) -> Any:
        raise error

    monkeypatch.setattr("nimbill.customers.billing_groups.records.list_billing_groups", fail)
    with capture_logs() as lines:
        answer = service.http.get(GROUPS, headers=service.root())

    assert problem_of(answer, 500)["code"] == "internal_error"
    assert type(error).__name__ not in answer.text
    (line,) = [line for line in lines if line["event"] == "unexpected"]
    assert line["request_id"] == answer.headers["x-request-id"]


def test_after_a_fault_the_next_request_is_answered(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection of the failed one goes back to the pool, thirty times over."""

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
def test_a_race_that_a_constraint_decided_is_409_with_its_name(
    constraint: str | None, code: str
) -> None:
    told = Exception(CANARY)
    cause = Exception()
    cause.constraint_name = constraint  # type: ignore[attr-defined]
    told.__cause__ = cause

    refusal = conflict_of(IntegrityError("", {}, told))

    assert (refusal.status, refusal.code) == (409, code)
    assert CANARY not in refusal.detail


def test_a_constraint_error_without_a_cause_is_a_plain_conflict() -> None:
    assert conflict_of(IntegrityError("", {}, Exception())).code == "conflict"


@pytest.mark.parametrize("host", ["", "a b", "host/path", f"{CANARY}@host", "x" * 5000])
def test_an_odd_host_header_is_no_surprise(service: Service, host: str) -> None:
    answer = raw_request(service, "GET", b"/healthz", headers={"Host": host})

    assert answer.status_code in (200, 400)
    assert CANARY not in answer.text


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
def test_headers_nobody_asked_for_change_nothing(service: Service, headers: dict[str, str]) -> None:
    plain = service.http.get(GROUPS, headers=service.root())

    answer = raw_request(service, "GET", GROUPS.encode(), headers=service.root() | headers)

    assert (answer.status_code, answer.body) == (plain.status_code, plain.content)
