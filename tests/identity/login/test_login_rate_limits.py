"""Limits on failed logins per address and per client, counted for all machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
import time_machine
from litestar import Request

from nimbill.access.login_failures import (
    OF_ADDRESS,
    OF_CLIENT,
    UNKNOWN_ORGANISATION,
    FailureCount,
    add_attempt,
    count_of_address,
    count_of_client,
    login_attempts,
)
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.settings import read_settings
from nimbill.identity.login import grants, login_rate_limits
from nimbill.identity.login.login_rate_limits import get_client_address, get_source
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
        ("203.0.113.5", ["198.51.100.1"], "203.0.113.5"),  # the peer is no trusted proxy
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        (
            "10.0.0.1",
            ["198.51.100.9, 198.51.100.1"],
            "198.51.100.1",
        ),  # the client sent the first one
        ("10.0.0.1", ["198.51.100.1, 10.9.9.9, 192.0.2.7"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.9", "198.51.100.1"], "198.51.100.1"),  # a second header
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
def test_the_client_address_is_the_last_that_is_no_trusted_proxy(
    client: str | None, forwarded_for: list[str], address: str
) -> None:
    trusted = read_settings({"NIMBILL_TRUSTED_PROXIES": PROXIES}).trusted_proxies

    assert get_client_address(request_from(client, *forwarded_for), trusted) == address


def test_without_trusted_proxies_the_header_is_ignored() -> None:
    trusted = read_settings({}).trusted_proxies

    assert get_client_address(request_from("10.0.0.1", "198.51.100.1"), trusted) == "10.0.0.1"


@pytest.fixture(autouse=True)
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refusals are sent without delay; test_concurrent_logins tests the delay."""
    monkeypatch.setattr(login_rate_limits, "DELAY_SECONDS", (0, 0))


def start_service(
    running: Service, folder: Path, **environment: str
) -> AbstractContextManager[Service]:
    return running_service(
        running.database_url,
        folder,
        NIMBILL_KEY_FILE=str(running.settings.key_file),
        NIMBILL_RATE_LIMIT="100",
        **environment,
    )


@pytest.fixture(scope="module")
def started_limited(
    running: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    with start_service(running, tmp_path_factory.mktemp("limited")) as service:
        yield service


@pytest.fixture(scope="module")
def started_behind_proxy(
    running: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("proxied")
    with start_service(running, folder, NIMBILL_TRUSTED_PROXIES="127.0.0.1") as service:
        yield service


@pytest.fixture
def limited(started_limited: Service) -> Iterator[Service]:
    """A service with the default limits and no proxy; nothing is counted yet and time stands."""
    forget_failures(started_limited)
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield started_limited


@pytest.fixture
def behind_proxy(started_behind_proxy: Service) -> Iterator[Service]:
    """A service behind a trusted proxy; nothing is counted yet and time stands."""
    forget_failures(started_behind_proxy)
    with time_machine.travel(datetime.now(UTC), tick=False):
        yield started_behind_proxy


def forget_failures(service: Service) -> None:
    async def forget() -> None:
        async with transaction(
            service.resources.engine, UNKNOWN_ORGANISATION.organisation_id
        ) as db:
            await db.execute(login_attempts.delete())

    service.run(forget)


def count_failures(service: Service, count: FailureCount, number: int) -> None:
    """Count failures without requests, which take longer."""

    async def add() -> None:
        async with transaction(service.resources.engine, count.scope.organisation_id) as db:
            for _ in range(number):
                await add_attempt(db, count)

    service.run(add)


LOCAL = count_of_address("127.0.0.1")


def get_remaining(service: Service, count: FailureCount = LOCAL) -> int:
    async def read() -> int:
        async with transaction(service.resources.engine, count.scope.organisation_id) as db:
            stmt = login_attempts.select().where(login_attempts.c.bucket == count.bucket)
            row = (await db.execute(stmt)).one_or_none()
            return count.limit.failures_max - (len(row.attempts) if row else 0)

    return service.run(read)


def test_the_limits_of_addresses_and_clients() -> None:
    assert (OF_ADDRESS.failures_max, OF_ADDRESS.window) == (100, timedelta(minutes=1))
    assert (OF_CLIENT.failures_max, OF_CLIENT.window) == (60, timedelta(minutes=1))


def login(service: Service, *, secret: str | None = None, forwarded_for: str = "") -> RawResponse:
    form = client_form(service.organisation)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if forwarded_for:
        headers["X-Forwarded-For"] = forwarded_for
    body = urlencode(form | ({"client_secret": secret} if secret else {})).encode()
    return raw_request(service, "POST", CORE.encode(), headers=headers, body=[body])


def test_after_a_hundred_failures_in_a_minute_logins_are_refused(limited: Service) -> None:
    for failures in (1, 2):
        assert login(limited, secret="guessed 5d").status_code == 401
        assert get_remaining(limited) == 100 - failures
    count_failures(limited, LOCAL, 97)
    assert login(limited, secret="guessed 5d").status_code == 401

    response = login(limited, secret="guessed 5d")

    assert response.status_code == 429
    assert response.json()["error"] == "temporarily_unavailable"
    assert response.headers["retry-after"] == "60"
    ignored = "198.51.100.1"  # this service trusts no proxy
    assert login(limited, secret="guessed 5d", forwarded_for=ignored).status_code == 429
    assert fail_login(limited, 1, address=ignored).status_code == 429
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


def fail_login(service: Service, number: int, *, address: str) -> RawResponse:
    """Send a wrong password for a new user name through the client of the organisation."""
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


def test_after_sixty_failures_of_a_client_in_a_minute_its_logins_are_refused(
    behind_proxy: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = count_of_client(behind_proxy.organisation.client_id)
    for number in (1, 2):
        response = fail_login(behind_proxy, number, address=f"198.51.100.{number}")
        assert response.json()["error"] == "invalid_grant"
        assert get_remaining(behind_proxy, client) == 60 - number
    count_failures(behind_proxy, client, 57)
    response = fail_login(behind_proxy, 59, address="198.51.100.59")
    assert response.json()["error"] == "invalid_grant"
    monkeypatch.setattr(grants, "authenticate_client", None)  # must not be called

    response = fail_login(behind_proxy, 60, address="198.51.100.60")

    assert response.status_code == 429
    description = "Too many failed logins by this client. Try again later."
    assert response.json()["error_description"] == description
    assert response.headers["retry-after"] == "60"


def test_a_wrong_secret_does_not_count_as_failure_of_the_client(behind_proxy: Service) -> None:
    for number in range(5):
        address = f"198.51.100.{number}"
        assert login(behind_proxy, secret="x", forwarded_for=address).status_code == 401

    client = count_of_client(behind_proxy.organisation.client_id)
    assert get_remaining(behind_proxy, client) == 60
    assert login(behind_proxy).status_code == 200
    assert fail_login(behind_proxy, 1, address="203.0.113.1").status_code == 400


def test_attempts_on_a_throttled_name_count_as_failures_of_the_address(limited: Service) -> None:
    form = urlencode(password_form(limited.organisation, "nobody.here", "guessed 5d")).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    responses = [
        raw_request(limited, "POST", CORE.encode(), headers=headers, body=[form]) for _ in range(15)
    ]

    assert [response.status_code for response in responses] == [400] * 10 + [429] * 5
    assert get_remaining(limited) == 100 - 15


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
def test_ipv6_addresses_are_grouped_by_64_bit_prefix(
    service: Service, address: str, source: str
) -> None:
    assert get_source(request_from(address), service.resources) == source


def test_behind_a_trusted_proxy_failures_count_for_the_client_address(
    behind_proxy: Service,
) -> None:
    for number in (1, 2):
        forwarded = f"198.51.100.{number}, 203.0.113.66"  # the client sent the first one
        assert login(behind_proxy, secret="guessed 5d", forwarded_for=forwarded).status_code == 401
        assert get_remaining(behind_proxy, count_of_address("203.0.113.66")) == 100 - number
    count_failures(behind_proxy, count_of_address("203.0.113.66"), 98)

    assert fail_login(behind_proxy, 1, address="203.0.113.66").status_code == 429
    assert fail_login(behind_proxy, 1, address="203.0.113.67").status_code == 400


def test_a_client_with_its_secret_is_not_locked_out_by_others_at_its_address(
    limited: Service,
) -> None:
    count_failures(limited, LOCAL, 100)

    assert login(limited, secret="guessed 5d").status_code == 429
    assert login(limited).status_code == 200


def test_all_machines_count_the_failures_of_an_address_together(
    limited: Service, started_behind_proxy: Service
) -> None:
    """The other service has the same database and another data folder."""
    assert login(limited, secret="guessed 5d").status_code == 401
    assert (
        login(started_behind_proxy, secret="guessed 5d", forwarded_for="127.0.0.1").status_code
        == 401
    )
    assert get_remaining(limited) == 98
    count_failures(started_behind_proxy, LOCAL, 98)

    assert login(limited, secret="guessed 5d").status_code == 429


def test_a_refused_failure_writes_nothing(limited: Service) -> None:
    """A flood that ignores the refusal costs the database no writes."""
    count_failures(limited, LOCAL, 100)

    async def read_version() -> Any:
        async with transaction(
            limited.resources.engine, UNKNOWN_ORGANISATION.organisation_id
        ) as db:
            return (await db.execute(sa.text("SELECT xmin, ctid FROM login_attempts"))).all()

    before = limited.run(read_version)
    assert login(limited, secret="guessed 5d").status_code == 429

    assert limited.run(read_version) == before


def test_successes_are_not_counted(limited: Service) -> None:
    for _ in range(5):
        assert login(limited).status_code == 200

    assert get_remaining(limited) == 100


def test_a_rate_limit_of_zero_turns_the_limit_off(service: Service) -> None:
    forget_failures(service)
    count_failures(service, count_of_address("testclient"), 100)
    wrong = client_form(service.organisation, client_secret="guessed 5d")
    password = password_form(service.organisation, "nobody.here", "guessed 5d")

    read_oauth_error(request_token(service, wrong), 401, "invalid_client")
    read_oauth_error(request_token(service, password), 400, "invalid_grant")
    assert request_token(service, client_form(service.organisation)).status_code == 200
