"""Create, list and delete API clients through the API."""

from __future__ import annotations

from typing import Any

import httpx

from tests.identity.users.user_requests import USERS
from tests.running_service import Service


def post_client(
    service: Service, user: str, headers: dict[str, str] | None = None, name: Any = "nightly export"
) -> httpx.Response:
    return service.http.post(
        f"{USERS}/client/{user}", json={"name": name}, headers=headers or service.root()
    )


def add_client(
    service: Service, user: str, headers: dict[str, str] | None = None, name: str = "nightly export"
) -> dict[str, Any]:
    """Create a client and return its record with the secret."""
    response = post_client(service, user, headers, name)
    assert response.status_code == 200, response.text
    client: dict[str, Any] = response.json()
    return client


def list_clients(
    service: Service, user: str, headers: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    response = service.http.get(f"{USERS}/clients/{user}", headers=headers or service.root())
    assert response.status_code == 200, response.text
    clients: list[dict[str, Any]] = response.json()
    return clients


def delete_client(
    service: Service, user: str, client_id: str, headers: dict[str, str] | None = None
) -> httpx.Response:
    return service.http.delete(
        f"{USERS}/client/{user}/{client_id}", headers=headers or service.root()
    )


def build_client_form(client: dict[str, Any]) -> dict[str, str]:
    """Return the form of the client_credentials grant."""
    return {
        "grant_type": "client_credentials",
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
    }
