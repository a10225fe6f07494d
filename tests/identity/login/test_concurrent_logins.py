"""Many concurrent logins: limits on hashing and waiting, and priority of known sources."""

from __future__ import annotations

import asyncio
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from nimbill.access import password_hash_queue, passwords
from nimbill.access.password_hash_queue import (
    PasswordHashQueue,
    QueueLane,
    create_attempts,
    too_many_logins,
)
from nimbill.application.installed import PRODUCTS
from nimbill.foundation.errors import TooManyRequests
from nimbill.identity.login import browser_requests, grants, login_rate_limits, session_routes
from tests.identity.login.test_password_attempts import WRONG, read_retry_after, sign_in
from tests.identity.login.token_requests import issue_tokens, password_form, request_token
from tests.running_service import PASSWORD, Service
from tests.subusers import run_concurrently


def test_of_fifty_concurrent_attempts_ten_passwords_are_checked(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = []
    password_matches = passwords.password_matches

    async def count_check(*arguments: Any) -> bool:
        checks.append(1)
        return await password_matches(*arguments)

    monkeypatch.setattr(grants, "password_matches", count_check)
    # No login is refused because of the number of logins.
    monkeypatch.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 100))
    monkeypatch.setattr(password_hash_queue, "WAITING_MAX", dict.fromkeys(QueueLane, 100))
    form = password_form(service.organisation, "root", WRONG)

    responses = run_concurrently([partial(request_token, service, form)] * 50)

    assert len(checks) <= 10
    assert sorted(response.status_code for response in responses) == [400] * 10 + [429] * 40


@pytest.fixture
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals are sent without delay."""
    monkeypatch.setattr(login_rate_limits, "DELAY_SECONDS", (0, 0))


@pytest.mark.usefixtures("no_delay")
def test_a_login_refused_for_overload_does_not_count_as_attempt(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any) -> bool:
        raise too_many_logins()

    with monkeypatch.context() as busy:
        busy.setattr(grants, "password_matches", refuse)
        for _ in range(12):
            assert (
                read_retry_after(
                    request_token(service, password_form(service.organisation, "root"))
                )
                == 1
            )

    assert issue_tokens(service, password_form(service.organisation, "root"))


@pytest.mark.usefixtures("no_delay")
def test_overload_is_refused_before_the_user_is_looked_up(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = password_form(service.organisation, "root")
    with monkeypatch.context() as busy:
        busy.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 0))
        busy.setattr(grants, "authenticate_client", None)  # must not be called
        busy.setattr(browser_requests, "find_organisation_id", None)
        for product in PRODUCTS:
            assert read_retry_after(request_token(service, form, product)) == 1
        response = sign_in(service, "root", PASSWORD)
        assert (response.status_code, response.json()["code"]) == (429, "logins_waiting")
        with pytest.raises(TooManyRequests):
            service.run(partial(passwords.hash_password, "x", service.resources.encryptor))

    assert issue_tokens(service, form)


@pytest.mark.usefixtures("no_delay")
def test_after_many_concurrent_logins_the_queue_is_empty(service: Service) -> None:
    form = password_form(service.organisation, "root", WRONG)

    for _ in range(2):
        responses = run_concurrently([partial(request_token, service, form)] * 60)
        assert {response.status_code for response in responses} <= {400, 429}

    assert passwords._queue.active == 0


def test_a_browser_that_signed_in_before_has_priority(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries: list[tuple[QueueLane, str]] = []
    original = passwords.enter_login_queue

    def record(lane: QueueLane, source: str) -> Any:
        entries.append((lane, source))
        return original(lane, source)

    monkeypatch.setattr(session_routes, "enter_login_queue", record)
    service.http.cookies.clear()
    first = sign_in(service, "root", PASSWORD)
    cookie = first.cookies["nimbill_device"]
    sign_in(service, "root", PASSWORD)
    changed = cookie[:-1] + ("A" if cookie[-1] != "A" else "B")
    for forged in (changed, cookie.partition(".")[0], "."):
        service.http.cookies.clear()
        service.http.cookies.set("nimbill_device", forged)
        sign_in(service, "root", PASSWORD)
    service.http.cookies.clear()

    assert [lane for lane, _ in entries] == [
        QueueLane.unknown_source,
        QueueLane.known_source,
        *[QueueLane.unknown_source] * 3,
    ]
    assert entries[1][1] == cookie.partition(".")[0]
    assert {source for lane, source in entries if lane is QueueLane.unknown_source} == {
        "testclient"
    }


def test_a_client_without_failed_logins_has_priority(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes: list[QueueLane] = []
    original = passwords.enter_login_queue

    def record(lane: QueueLane, source: str) -> Any:
        lanes.append(lane)
        return original(lane, source)

    monkeypatch.setattr(grants, "enter_login_queue", record)
    for password in (PASSWORD, PASSWORD, WRONG, PASSWORD, PASSWORD):
        request_token(service, password_form(service.organisation, "root", password))

    # The failed login stays counted, successful ones do not.
    assert lanes == [*[QueueLane.known_source] * 3, *[QueueLane.unknown_source] * 2]


@pytest.fixture
def checked_lanes(monkeypatch: pytest.MonkeyPatch) -> list[QueueLane]:
    """The queue lane of each login whose password is checked."""
    lanes: list[QueueLane] = []
    original = passwords.password_matches

    async def record(password: str, hashed: str | None, encryptor: Any, queue_entry: Any) -> bool:
        lanes.append(queue_entry.lane)
        return await original(password, hashed, encryptor, queue_entry)

    monkeypatch.setattr(grants, "password_matches", record)
    return lanes


def test_a_device_cookie_gives_no_priority_for_other_users(
    service: Service, checked_lanes: list[QueueLane]
) -> None:
    for name, password in (("root", PASSWORD), ("root", WRONG), ("nobody.here", WRONG)):
        sign_in(service, name, password)

    assert checked_lanes == [
        QueueLane.unknown_source,
        QueueLane.known_source,
        QueueLane.unknown_source,
    ]


def test_the_refusal_of_an_overload_is_delayed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 0))
    delays: list[float] = []
    recorder = SimpleNamespace(sleep=AsyncMock(side_effect=delays.append))
    monkeypatch.setattr(login_rate_limits, "asyncio", recorder)
    form = password_form(service.organisation, "root")

    read_retry_after(request_token(service, form))

    (delay,) = delays
    assert delay >= login_rate_limits.DELAY_SECONDS[0]


def test_repeated_refusals_have_a_longer_delay_and_retry_after(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[float] = []

    async def record(seconds: float) -> None:
        delays.append(seconds)

    monkeypatch.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 0))
    monkeypatch.setattr(login_rate_limits, "DELAY_SECONDS", (1, 1))
    monkeypatch.setattr(asyncio, "sleep", record)
    monkeypatch.setattr(passwords, "_queue", PasswordHashQueue(create_attempts()))

    responses = [sign_in(service, "root", PASSWORD) for _ in range(9)]

    retry_after = [int(response.headers["retry-after"]) for response in responses]
    assert retry_after == [1, 1, 2, 2, 2, 2, 2, 2, 3]
    assert delays == retry_after


def test_a_user_who_logged_in_through_the_client_before_has_priority(
    service: Service, checked_lanes: list[QueueLane]
) -> None:
    form = password_form(service.organisation, "root")
    issue_tokens(service, form)
    issue_tokens(service, form)
    request_token(service, password_form(service.organisation, "nobody.here", WRONG))
    issue_tokens(service, form)

    assert checked_lanes == [
        QueueLane.unknown_source,
        QueueLane.known_source,
        QueueLane.unknown_source,
        QueueLane.known_source,
    ]
