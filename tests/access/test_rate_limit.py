"""The rate limit per user and second, and Retry-After for requests beyond it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from tests.problem_responses import read_problem
from tests.running_service import Service, running_service

GROUPS = "/m/core/billinggroup"
LIMIT = 3


@pytest.fixture(scope="module")
def limited(
    postgres: Address, running: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """A second service on the same database and keys, with a rate limit."""
    data: Path = tmp_path_factory.mktemp("limited")
    key = str(running.settings.key_file)
    limit = {"NIMBILL_RATE_LIMIT": str(LIMIT), "NIMBILL_KEY_FILE": key}
    with running_service(postgres.url, data, **limit) as service:
        yield service


def request_repeatedly(service: Service, headers: dict[str, str], count: int) -> list[int]:
    return [service.http.get(GROUPS, headers=headers).status_code for _ in range(count)]


@pytest.fixture
def frozen_limiter_time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Freeze the time of the limiter, so that a slow machine does not change the result."""
    at = [time.monotonic()]
    frozen = SimpleNamespace(
        monotonic_ns=lambda: int(at[0] * 1e9), perf_counter_ns=time.perf_counter_ns
    )
    monkeypatch.setattr("nimbill.access.shared_rate_limit.time", frozen)
    return at


def test_a_request_beyond_the_limit_is_429_with_retry_after(
    limited: Service, frozen_limiter_time: list[float]
) -> None:
    headers = limited.caller(RoleAction.ReadBillingGroup)

    assert request_repeatedly(limited, headers, LIMIT) == [200] * LIMIT
    response = limited.http.get(GROUPS, headers=headers)

    assert read_problem(response, 429)["code"] == "rate_exceeded"
    assert int(response.headers["retry-after"]) == 1


def test_requests_are_accepted_again_after_a_second(
    limited: Service, frozen_limiter_time: list[float]
) -> None:
    headers = limited.caller(RoleAction.ReadBillingGroup)
    assert request_repeatedly(limited, headers, LIMIT + 1)[-1] == 429

    frozen_limiter_time[0] += 1.01

    assert request_repeatedly(limited, headers, LIMIT) == [200] * LIMIT


def test_each_user_has_its_own_limit(limited: Service, frozen_limiter_time: list[float]) -> None:
    first, second = (limited.caller(RoleAction.ReadBillingGroup) for _ in range(2))

    assert request_repeatedly(limited, first, LIMIT + 1)[-1] == 429
    assert request_repeatedly(limited, second, LIMIT) == [200] * LIMIT


def test_a_change_beyond_the_limit_is_not_made(
    limited: Service, frozen_limiter_time: list[float]
) -> None:
    headers = limited.caller(RoleAction.ModifyBillingGroup)
    request_repeatedly(limited, headers, LIMIT)
    body = {
        "billinggroup_id": "too-fast",
        "billinggroup_name": "a",
        "company_name": "b",
        "inv_aggregate": True,
    }

    assert limited.http.post(GROUPS, json=body, headers=headers).status_code == 429

    listed = limited.http.get(GROUPS, headers=limited.caller(RoleAction.ReadBillingGroup)).json()
    assert "too-fast" not in [record["billinggroup_id"] for record in listed]


def test_public_paths_are_not_limited(limited: Service, frozen_limiter_time: list[float]) -> None:
    statuses = {limited.http.get("/healthz").status_code for _ in range(5 * LIMIT)}

    assert statuses == {200}


def test_a_limit_of_zero_disables_the_limit(
    service: Service, frozen_limiter_time: list[float]
) -> None:
    assert service.settings.rate_limit == 0

    headers = service.root()

    assert set(request_repeatedly(service, headers, 150)) == {200}


def test_the_workers_of_a_machine_count_together(
    limited: Service,
    postgres: Address,
    frozen_limiter_time: list[float],
) -> None:
    """A second worker has the same data folder."""
    key = {"NIMBILL_RATE_LIMIT": str(LIMIT), "NIMBILL_KEY_FILE": str(limited.settings.key_file)}
    headers = limited.caller(RoleAction.ReadBillingGroup)
    with running_service(postgres.url, limited.settings.data, **key) as other_worker:
        statuses = [
            *request_repeatedly(limited, headers, LIMIT - 1),
            *request_repeatedly(other_worker, headers, 2),
            *request_repeatedly(limited, headers, 1),
        ]

    assert statuses == [200] * LIMIT + [429, 429]
