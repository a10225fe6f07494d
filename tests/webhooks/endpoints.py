"""Requests that create endpoints, cause events and wait for deliveries."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.problem_responses import HttpResponse
from tests.running_service import Service

WEBHOOKS = "/m/core/webhooks"
MONTH = "2026-03"
SECONDS_MAX = 120  # only reached if a delivery is missing


def send(
    service: Service,
    method: str,
    path: str = "",
    body: Any = None,
    headers: dict[str, str] | None = None,
) -> HttpResponse:
    return service.http.request(
        method, WEBHOOKS + path, json=body, headers=headers or service.root()
    )


def call(service: Service, method: str, path: str = "", body: Any = None) -> Any:
    response = send(service, method, path, body)
    assert response.status_code == 200, response.text
    return response.json()


def create_endpoint(service: Service, url: str, **fields: Any) -> dict[str, Any]:
    """Return endpoint_id and secret."""
    created: dict[str, Any] = call(service, "POST", "", {"url": url, **fields})
    return created


def close_month(service: Service, month: str = MONTH) -> None:
    body = {"vendor": "aws", "override": True, "reason": "no costs in this test"}
    _change_month(service, f"/m/core/invoices/close/{month}", body)


def reopen_month(service: Service, month: str = MONTH) -> None:
    _change_month(
        service, f"/m/core/invoices/reopen/{month}", {"vendor": "aws", "reason": "a test"}
    )


def _change_month(service: Service, path: str, body: dict[str, Any]) -> None:
    response = service.http.post(path, json=body, headers=service.root())
    assert response.status_code == 200, response.text


def list_deliveries(service: Service, endpoint_id: str, query: str = "") -> list[dict[str, Any]]:
    """The newest event first."""
    deliveries: list[dict[str, Any]] = call(service, "GET", f"/{endpoint_id}/deliveries{query}")
    return deliveries


def wait_for_deliveries(
    service: Service, endpoint_id: str, condition: Callable[[list[dict[str, Any]]], bool]
) -> list[dict[str, Any]]:
    """Wait until the recorded deliveries are as expected."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition(deliveries := list_deliveries(service, endpoint_id)):
        assert time.monotonic() < deadline, deliveries
        time.sleep(0.02)
    return deliveries


def have_state(state: str, number: int = 1) -> Callable[[list[dict[str, Any]]], bool]:
    """Whether exactly this many deliveries are in this state."""
    return lambda deliveries: sum(each["state"] == state for each in deliveries) == number


def have_attempts(*attempts: int) -> Callable[[list[dict[str, Any]]], bool]:
    """Whether the deliveries have had this many attempts, the newest first."""
    return lambda deliveries: [each["attempts"] for each in deliveries] == list(attempts)
