"""Many logins at once: few are looked at, fewer wait, and who knows his way goes first."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

import pytest

from nimbill.access import password_hash_queue, passwords
from nimbill.access.password_hash_queue import QueueLane, too_many_logins
from nimbill.application.installed import PRODUCTS
from nimbill.foundation.errors import TooManyRequests
from nimbill.identity.login import grants, login_rate_limits, session_routes
from tests.identity.login.test_password_attempts import WRONG, sign_in, throttled
from tests.identity.login.token_requests import issue_tokens, password_form, request_token
from tests.running_service import PASSWORD, Service
from tests.subusers import run_concurrently


def test_of_fifty_guesses_at_once_ten_are_looked_at(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = []
    check = passwords.password_matches

    async def counted(*what: Any) -> bool:
        looked_at.append(1)
        return await check(*what)

    monkeypatch.setattr(grants, "password_matches", counted)
    # nobody is sent away for being many
    monkeypatch.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 100))
    monkeypatch.setattr(password_hash_queue, "WAITING_MAX", dict.fromkeys(QueueLane, 100))
    form = password_form(service.organisation, "root", WRONG)

    answers = run_concurrently([partial(request_token, service, form)] * 50)

    assert len(looked_at) <= 10
    assert sorted(answer.status_code for answer in answers) == [400] * 10 + [429] * 40


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is sent away is told so at once."""
    monkeypatch.setattr(login_rate_limits, "DELAY_SECONDS", (0, 0))


@pytest.mark.usefixtures("hurried")
def test_a_login_nobody_had_time_for_is_no_guess(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sent_away(*_: Any) -> bool:
        raise too_many_logins()

    with monkeypatch.context() as busy:
        busy.setattr(grants, "password_matches", sent_away)
        for _ in range(12):
            assert (
                throttled(request_token(service, password_form(service.organisation, "root"))) == 1
            )

    assert issue_tokens(service, password_form(service.organisation, "root"))


@pytest.mark.usefixtures("hurried")
def test_a_crowd_is_sent_away_before_a_user_is_looked_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = password_form(service.organisation, "root")
    with monkeypatch.context() as busy:
        busy.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 0))
        busy.setattr(grants, "authenticate_client", None)  # must not be called
        busy.setattr(session_routes, "organisation_of", None)
        for product in PRODUCTS:
            assert throttled(request_token(service, form, product)) == 1
        answer = sign_in(service, "root", PASSWORD)
        assert (answer.status_code, answer.json()["code"]) == (429, "logins_waiting")
        with pytest.raises(TooManyRequests):
            service.run(partial(passwords.hash_password, "x", service.resources.encryptor))

    assert issue_tokens(service, form)


@pytest.mark.usefixtures("hurried")
def test_of_a_crowd_as_many_as_may_be_under_way_are_served(service: Service) -> None:
    """Each to its end; the place of one that failed is free again."""
    form = password_form(service.organisation, "root", WRONG)

    for _ in range(2):
        answers = run_concurrently([partial(request_token, service, form)] * 60)
        assert {answer.status_code for answer in answers} <= {400, 429}

    assert passwords._queue.active == 0


def test_a_browser_that_logged_in_before_does_not_stand_behind_strangers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[tuple[QueueLane, str]] = []
    real = passwords.enter_login_queue

    def noted(ring: QueueLane, source: str) -> Any:
        places.append((ring, source))
        return real(ring, source)

    monkeypatch.setattr(session_routes, "enter_login_queue", noted)
    service.http.cookies.clear()
    first = sign_in(service, "root", PASSWORD)
    mark = first.cookies["nimbill_device"]
    sign_in(service, "root", PASSWORD)
    for forged in (mark[:-1] + ("A" if mark[-1] != "A" else "B"), mark.partition(".")[0], "."):
        service.http.cookies.clear()
        service.http.cookies.set("nimbill_device", forged)
        sign_in(service, "root", PASSWORD)
    service.http.cookies.clear()

    assert [ring for ring, _ in places] == [
        QueueLane.unknown_source,
        QueueLane.known_source,
        *[QueueLane.unknown_source] * 3,
    ]
    assert places[1][1] == mark.partition(".")[0]
    assert {source for ring, source in places if ring is QueueLane.unknown_source} == {"testclient"}


def test_a_client_by_which_nobody_failed_does_not_stand_behind_strangers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    rings: list[QueueLane] = []
    real = passwords.enter_login_queue

    def noted(ring: QueueLane, source: str) -> Any:
        rings.append(ring)
        return real(ring, source)

    monkeypatch.setattr(grants, "enter_login_queue", noted)
    for password in (PASSWORD, PASSWORD, WRONG, PASSWORD, PASSWORD):
        request_token(service, password_form(service.organisation, "root", password))

    # the wrong one stays counted; of each right one nothing does
    assert rings == [*[QueueLane.known_source] * 3, *[QueueLane.unknown_source] * 2]


@pytest.fixture
def hashed_in(monkeypatch: pytest.MonkeyPatch) -> list[QueueLane]:
    """The ring of each login that came to be hashed."""
    rings: list[QueueLane] = []
    real = passwords.password_matches

    async def noted(password: str, hashed: str | None, encryptor: Any, place: Any) -> bool:
        rings.append(place.lane)
        return await real(password, hashed, encryptor, place)

    monkeypatch.setattr(grants, "password_matches", noted)
    return rings


def test_a_mark_of_ours_helps_nobody_to_guess_at_others(
    service: Service, hashed_in: list[QueueLane]
) -> None:
    for name, password in (("root", PASSWORD), ("root", WRONG), ("nobody.here", WRONG)):
        sign_in(service, name, password)

    assert hashed_in == [QueueLane.unknown_source, QueueLane.known_source, QueueLane.unknown_source]


def test_who_is_sent_away_for_being_many_hears_it_about_a_second_later(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 0))
    form = password_form(service.organisation, "root")

    began = time.monotonic()
    throttled(request_token(service, form))
    one = time.monotonic() - began
    monkeypatch.setattr(login_rate_limits, "DELAYED_REQUESTS_MAX", 0)  # so many wait already
    began = time.monotonic()
    throttled(request_token(service, form))

    assert time.monotonic() - began < 0.5 <= one


def test_who_comes_back_often_hears_it_later_and_is_asked_to_stay_away_longer(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def noted(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(password_hash_queue, "ACTIVE_MAX", dict.fromkeys(QueueLane, 0))
    monkeypatch.setattr(login_rate_limits, "DELAY_SECONDS", (1, 1))
    monkeypatch.setattr(asyncio, "sleep", noted)
    passwords._reset_after_fork()

    answers = [sign_in(service, "root", PASSWORD) for _ in range(9)]

    told = [int(answer.headers["retry-after"]) for answer in answers]
    assert told == [1, 1, 2, 2, 2, 2, 2, 2, 3]
    assert waited == told


def test_who_logged_in_by_a_client_before_does_not_stand_behind_who_did_not(
    service: Service, hashed_in: list[QueueLane]
) -> None:
    form = password_form(service.organisation, "root")
    issue_tokens(service, form)
    issue_tokens(service, form)
    request_token(service, password_form(service.organisation, "nobody.here", WRONG))
    issue_tokens(service, form)

    assert hashed_in == [
        QueueLane.unknown_source,
        QueueLane.known_source,
        QueueLane.unknown_source,
        QueueLane.known_source,
    ]
