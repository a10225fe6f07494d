"""How many logins may fail from one address in a minute, and whose address that is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from litestar import Request

from nimbill.foundation.settings import read_settings
from nimbill.identity.login import records
from nimbill.identity.login.login_rate_limits import FAILURES_MAX, get_client_address, get_source
from tests.identity.login.token_requests import (
    CORE,
    client_form,
    password_form,
    read_oauth_error,
    request_token,
)
from tests.raw_request import RawResponse, raw_request
from tests.running_service import Service, running_service

PROXIES = "10.0.0.0/8, 192.0.2.7, fd00::/8"


def request_from(client: str | None, *forwarded_for: str) -> Request[Any, Any, Any]:
    lines = [(b"x-forwarded-for", line.encode()) for line in forwarded_for]
    scope: Any = {"type": "http", "headers": lines, "client": (client, 1) if client else None}
    return Request(scope)


@pytest.mark.parametrize(
    ("client", "forwarded_for", "address"),
    [
        ("203.0.113.5", [], "203.0.113.5"),
        ("203.0.113.5", ["198.51.100.1"], "203.0.113.5"),  # no proxy of ours: not believed
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.9, 198.51.100.1"], "198.51.100.1"),  # the first is made up
        ("10.0.0.1", ["198.51.100.1, 10.9.9.9, 192.0.2.7"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.9", "198.51.100.1"], "198.51.100.1"),  # a line of its own
        ("10.0.0.1", ["198.51.100.9, 10.1.1.1", "198.51.100.1, 10.2.2.2"], "198.51.100.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["", " , "], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], "10.0.0.1"),
        ("10.0.0.1", ["nonsense"], "nonsense"),
        ("fd00::1", ["2001:db8::1"], "2001:db8::1"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", [",".join(["10.0.0.2"] * 5000)], "10.0.0.1"),
        (None, [], ""),
    ],
)
def test_the_address_is_the_last_that_is_no_proxy_of_ours(
    client: str | None, forwarded_for: list[str], address: str
) -> None:
    trusted = read_settings({"NIMBILL_TRUSTED_PROXIES": PROXIES}).trusted_proxies

    assert get_client_address(request_from(client, *forwarded_for), trusted) == address


def test_without_trusted_proxies_no_header_is_believed() -> None:
    trusted = read_settings({}).trusted_proxies

    assert get_client_address(request_from("10.0.0.1", "198.51.100.1"), trusted) == "10.0.0.1"


@pytest.fixture
def limited(running: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """As it runs by default: with limits, behind no proxy."""
    with running_service(
        running.database_url,
        tmp_path_factory.mktemp("limited"),
        NIMBILL_KEY_FILE=str(running.settings.key_file),
        NIMBILL_RATE_LIMIT="100",
    ) as service:
        yield service


@pytest.fixture
def behind_proxy(running: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(
        running.database_url,
        tmp_path_factory.mktemp("proxied"),
        NIMBILL_KEY_FILE=str(running.settings.key_file),
        NIMBILL_RATE_LIMIT="100",
        NIMBILL_TRUSTED_PROXIES="127.0.0.1",
    ) as service:
        yield service


def login(service: Service, *, secret: str | None = None, forwarded_for: str = "") -> RawResponse:
    form = client_form(service.organisation)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if forwarded_for:
        headers["X-Forwarded-For"] = forwarded_for
    body = urlencode(form | ({"client_secret": secret} if secret else {})).encode()
    return raw_request(service, "POST", CORE.encode(), headers=headers, body=[body])


def test_a_hundred_failures_in_a_minute_then_come_back_later(limited: Service) -> None:
    for _ in range(100):
        assert login(limited, secret="guessed 5d").status_code == 401

    answer = login(limited)

    assert answer.status_code == 429
    assert answer.json()["error"] == "temporarily_unavailable"
    assert answer.headers["retry-after"] == "60"
    assert login(limited, forwarded_for="198.51.100.1").status_code == 429  # forged: no help
    sign_in = {"organisation": "x", "username": "x", "password": "x"}
    refusal = raw_request(
        limited,
        "POST",
        b"/core/session",
        headers={"Content-Type": "application/json"},
        body=[str(sign_in).replace("'", '"').encode()],
    )
    assert refusal.status_code == 429
    assert refusal.json()["code"] == "logins_failing"


def guessed(service: Service, number: int, *, address: str) -> RawResponse:
    """A wrong password for a name of its own, through the organisation's client."""
    form = password_form(service.organisation, f"nobody.{number}", "guessed 5d")
    return raw_request(
        service,
        "POST",
        CORE.encode(),
        headers={
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Forwarded-For": address,
        },
        body=[urlencode(form).encode()],
    )


def test_sixty_failed_logins_by_one_client_in_a_minute_then_come_back_later(
    behind_proxy: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        answer = guessed(behind_proxy, number, address=f"198.51.100.{number}")
        assert answer.json()["error"] == "invalid_grant"
    monkeypatch.setattr(records, "find_client", None)  # nor is it looked up any more

    answer = guessed(behind_proxy, 60, address="198.51.100.60")

    assert answer.status_code == 429
    assert answer.json()["error_description"] == "Too many failed logins by this client. Try again later."
    assert answer.headers["retry-after"] == "60"


def test_who_does_not_know_its_secret_cannot_shut_a_client_out(behind_proxy: Service) -> None:
    for number in range(70):
        address = f"198.51.100.{number}"
        assert login(behind_proxy, secret="x", forwarded_for=address).status_code == 401

    assert login(behind_proxy).status_code == 200
    assert guessed(behind_proxy, 1, address="203.0.113.1").status_code == 400


def test_guesses_at_a_name_that_is_throttled_count_by_their_address(limited: Service) -> None:
    form = urlencode(password_form(limited.organisation, "nobody.here", "guessed 5d")).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    limited.resources.login_failures.storage.reset()
    for _ in range(55):
        raw_request(limited, "POST", CORE.encode(), headers=headers, body=[form])

    left = limited.resources.login_failures.get_window_stats(FAILURES_MAX, "127.0.0.1").remaining

    assert left == 100 - 55


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("203.0.113.5", "203.0.113.5"),
        ("::ffff:203.0.113.5", "::ffff:203.0.113.5"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("testclient", "testclient"),
    ],
)
def test_newer_addresses_of_one_household_are_one_source(
    service: Service, address: str, source: str
) -> None:
    assert get_source(request_from(address), service.resources) == source


def test_behind_a_trusted_proxy_each_caller_is_counted_by_its_own_address(
    behind_proxy: Service,
) -> None:
    for number in range(100):
        made_up = f"198.51.100.{number}, 203.0.113.66"
        assert login(behind_proxy, secret="guessed 5d", forwarded_for=made_up).status_code == 401

    assert login(behind_proxy, forwarded_for="203.0.113.66").status_code == 429
    assert login(behind_proxy, forwarded_for="203.0.113.67").status_code == 200


def test_successes_are_not_counted(limited: Service) -> None:
    for _ in range(110):
        assert login(limited).status_code == 200


def test_zero_switches_it_off(service: Service) -> None:
    wrong = client_form(service.organisation, client_secret="guessed 5d")
    for _ in range(110):
        read_oauth_error(request_token(service, wrong), 401, "invalid_client")

    assert request_token(service, client_form(service.organisation)).status_code == 200
