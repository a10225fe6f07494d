"""API clients as callers ask for them."""

from __future__ import annotations

from typing import Any

import httpx

from tests.identity.users.subusers import USERS
from tests.running_service import Service


def create_client(
    service: Service, user: str, headers: dict[str, str] | None = None, name: Any = "nightly export"
) -> httpx.Response:
    return service.http.post(
        f"{USERS}/client/{user}", json={"name": name}, headers=headers or service.root()
    )


def created_client(
    service: Service, user: str, headers: dict[str, str] | None = None, name: str = "nightly export"
) -> dict[str, Any]:
    answer = create_client(service, user, headers, name)
    assert answer.status_code == 200, answer.text
    client: dict[str, Any] = answer.json()
    return client


def listed_clients(
    service: Service, user: str, headers: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    answer = service.http.get(f"{USERS}/clients/{user}", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    clients: list[dict[str, Any]] = answer.json()
    return clients


def delete_client(
    service: Service, user: str, client_id: str, headers: dict[str, str] | None = None
) -> httpx.Response:
    return service.http.delete(
        f"{USERS}/client/{user}/{client_id}", headers=headers or service.root()
    )


def credentials_of(client: dict[str, Any]) -> dict[str, str]:
    """The form of its grant."""
    return {
        "grant_type": "client_credentials",
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
    }
