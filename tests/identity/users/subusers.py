"""Subusers as callers make and meet them: a sound body, and the answer to it."""

from __future__ import annotations

import re
from typing import Any

import httpx

from tests.running_service import Service

USERS = "/m/u/users"

SUBUSER: dict[str, Any] = {
    "username": "hanako.s",
    "password": "correct horse 8",
    "notification": {"email": "false"},
}

# RFC 3339 with a fraction of nine digits
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")


def create(
    service: Service, headers: dict[str, str] | None = None, **changes: Any
) -> httpx.Response:
    """Ask for a subuser that differs from the sound one in these fields; absent where `...`."""
    body = {name: value for name, value in (SUBUSER | changes).items() if value is not ...}
    return service.http.post(USERS, json=body, headers=headers or service.root())


def created(service: Service, **changes: Any) -> dict[str, Any]:
    answer = create(service, **changes)
    assert answer.status_code == 200, answer.text
    record: dict[str, Any] = answer.json()
    return record


def listed(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    answer = service.http.get(USERS, headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    records: list[dict[str, Any]] = answer.json()
    return records
