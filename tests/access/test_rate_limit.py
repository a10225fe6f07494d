"""So many requests a second for each user; the next one is told when to come back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from tests.answers import problem_of
from tests.running_service import Service, running_service

GROUPS = "/m/core/billinggroup"
LIMIT = 3


@pytest.fixture(scope="module")
def limited(
    postgres: Address, running: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """A second service on the same database and keys, which counts."""
    data: Path = tmp_path_factory.mktemp("limited")
    key = str(running.settings.key_file)
    limit = {"NIMBILL_RATE_LIMIT": str(LIMIT), "NIMBILL_KEY_FILE": key}
    with running_service(postgres.url, data, **limit) as service:
        yield service


def statuses(service: Service, headers: dict[str, str], count: int) -> list[int]:
    return [service.http.get(GROUPS, headers=headers).status_code for _ in range(count)]


@pytest.fixture
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The limiter's own time, so that a slow machine does not forgive a request."""
    at = [time.time()]
    monkeypatch.setattr("limits.storage.memory.time", SimpleNamespace(time=lambda: at[0]))
    return at


def test_beyond_the_limit_it_is_429_with_retry_after(
    limited: Service, stopped_clock: list[float]
) -> None:
    headers = limited.caller(RoleAction.ReadBillingGroup)

    assert statuses(limited, headers, LIMIT) == [200] * LIMIT
    answer = limited.http.get(GROUPS, headers=headers)

    assert problem_of(answer, 429)["code"] == "rate_exceeded"
    assert int(answer.headers["retry-after"]) == 1


def test_a_second_later_it_is_fine_again(limited: Service, stopped_clock: list[float]) -> None:
    headers = limited.caller(RoleAction.ReadBillingGroup)
    assert statuses(limited, headers, LIMIT + 1)[-1] == 429

    stopped_clock[0] += 1.01

    assert statuses(limited, headers, LIMIT) == [200] * LIMIT


def test_each_user_is_counted_alone(limited: Service, stopped_clock: list[float]) -> None:
    one, other = (limited.caller(RoleAction.ReadBillingGroup) for _ in range(2))

    assert statuses(limited, one, LIMIT + 1)[-1] == 429
    assert statuses(limited, other, LIMIT) == [200] * LIMIT


def test_a_refused_change_is_not_made(limited: Service, stopped_clock: list[float]) -> None:
    headers = limited.caller(RoleAction.ModifyBillingGroup)
    statuses(limited, headers, LIMIT)
    body = {
        "billinggroup_id": "too-fast",
        "billinggroup_name": "a",
        "company_name": "b",
        "inv_aggregate": True,
    }

    assert limited.http.post(GROUPS, json=body, headers=headers).status_code == 429

    listed = limited.http.get(GROUPS, headers=limited.caller(RoleAction.ReadBillingGroup)).json()
    assert "too-fast" not in [record["billinggroup_id"] for record in listed]


def test_what_needs_no_token_is_not_counted(limited: Service, stopped_clock: list[float]) -> None:
    answers = {limited.http.get("/healthz").status_code for _ in range(5 * LIMIT)}

    assert answers == {200}


def test_a_limit_of_nothing_is_no_limit(service: Service, stopped_clock: list[float]) -> None:
    assert service.settings.rate_limit == 0

    headers = service.root()

    assert set(statuses(service, headers, 150)) == {200}
