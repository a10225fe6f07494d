"""The client repeats what can be repeated, and the service makes each change once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from nimbill_client import Conflict, ConnectionFailed, TooManyRequests, Unavailable
from nimbill_client.retries import parse_retry_after
from tests.nimbill_client.prepared_service import PreparedService, problem

STARTED = httpx.Response(202, json={"import_id": "imp-1"})
NO_ROLES = httpx.Response(200, json=[])


@pytest.mark.parametrize(
    "failure",
    [
        problem(503, "unavailable"),
        problem(408, "timeout"),
        httpx.Response(502, text="<html>Bad gateway</html>"),
        httpx.ConnectError("refused"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("closed"),
    ],
)
def test_a_request_is_repeated_after_a_temporary_failure(
    failure: httpx.Response | Exception,
) -> None:
    service = PreparedService(answers=[failure, failure, STARTED])

    started = service.client().imports.start("aws", "folder")

    assert started.import_id == "imp-1"
    assert len(service.requests) == 3
    assert service.pauses == sorted(service.pauses)  # each pause is longer


def test_all_attempts_of_a_change_have_the_same_idempotency_key() -> None:
    service = PreparedService(answers=[httpx.ReadError("reset"), STARTED, STARTED])
    client = service.client()

    client.imports.start("aws", "folder")
    client.imports.start("aws", "folder")

    first, repeated, other = [each.headers["Idempotency-Key"] for each in service.requests]
    assert first == repeated != other


def test_a_given_idempotency_key_is_used() -> None:
    service = PreparedService(answers=[STARTED])

    service.client().imports.start("aws", "folder", key="nightly-2026-09-30")

    assert service.requests[0].headers["Idempotency-Key"] == "nightly-2026-09-30"


@pytest.mark.parametrize("status", [429, 503])
def test_the_service_says_how_long_to_wait(status: int) -> None:
    service = PreparedService(answers=[problem(status, "later", **{"Retry-After": "12"}), NO_ROLES])

    service.client().roles.list_all()

    assert service.pauses == [12]


def test_a_longer_wait_than_allowed_is_an_error_at_once() -> None:
    service = PreparedService(answers=[problem(429, "later", **{"Retry-After": "61"})])

    with pytest.raises(TooManyRequests) as caught:
        service.client().roles.list_all()

    assert caught.value.retry_after == 61
    assert service.pauses == []


def test_the_last_failure_is_raised_when_the_time_is_over() -> None:
    service = PreparedService(answers=[problem(503, "unavailable")] * 50)

    with pytest.raises(Unavailable):
        service.client(retry_seconds=20).roles.list_all()

    assert 0 < sum(service.pauses) <= 20


def test_a_repeat_waits_for_the_first_attempt_that_still_runs() -> None:
    running = problem(409, "idempotency_key_in_use")
    service = PreparedService(answers=[httpx.ReadTimeout("slow"), running, STARTED])

    assert service.client().imports.start("aws", "folder").import_id == "imp-1"


@pytest.mark.parametrize("refusal", [problem(409, "month_closed"), problem(409, "x")])
def test_a_refusal_is_not_repeated(refusal: httpx.Response) -> None:
    service = PreparedService(answers=[refusal])

    with pytest.raises(Conflict):
        service.client().imports.start("aws", "folder")

    assert len(service.requests) == 1


def test_an_unreachable_service_is_an_error_of_this_package() -> None:
    service = PreparedService(answers=[httpx.ConnectError("Connection refused")] * 50)

    with pytest.raises(ConnectionFailed, match=r"GET /m/auth/rbac/roles.*Connection refused"):
        service.client().roles.list_all()


def test_an_invoice_run_is_awaited_for_longer_than_one_attempt() -> None:
    created = httpx.Response(200, json={"created": [], "skipped": [], "warnings": []})
    service = PreparedService(answers=[*[httpx.ReadTimeout("slow")] * 20, created])

    service.client(retry_seconds=1).invoices.create("2026-09", "aws")

    assert len({each.headers["Idempotency-Key"] for each in service.requests}) == 1


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, None), ("30", 30), ("soon", None), ("-1", None), ("²", None)]
)
def test_retry_after_is_read_as_seconds(header: str | None, seconds: int | None) -> None:
    assert parse_retry_after(header) == seconds


def test_retry_after_may_be_a_date() -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)

    assert 3590 <= (parse_retry_after(moment) or 0) <= 3601
    assert parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
