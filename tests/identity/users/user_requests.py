"""Create and list subusers through the API."""

from __future__ import annotations

import re
from typing import Any

import httpx

from tests.running_service import Service

USERS = "/m/u/users"

# a valid body
SUBUSER: dict[str, Any] = {
    "username": "hanako.s",
    "password": "correct horse 8",
    "notification": {"email": "false"},
}

# RFC 3339 with nine decimals of a second
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")


def build_subuser_body(**changes: Any) -> dict[str, Any]:
    """Return the valid body with these changes; `...` removes a field."""
    return {name: value for name, value in (SUBUSER | changes).items() if value is not ...}


def post_subuser(
    service: Service, headers: dict[str, str] | None = None, **changes: Any
) -> httpx.Response:
    body = build_subuser_body(**changes)
    return service.http.post(USERS, json=body, headers=headers or service.root())


def add_subuser(service: Service, **changes: Any) -> dict[str, Any]:
    """Create a subuser and return its record."""
    response = post_subuser(service, **changes)
    assert response.status_code == 200, response.text
    record: dict[str, Any] = response.json()
    return record


def list_subusers(service: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    response = service.http.get(USERS, headers=headers or service.root())
    assert response.status_code == 200, response.text
    records: list[dict[str, Any]] = response.json()
    return records
