"""Requests about the contacts of a billing group."""

from __future__ import annotations

from typing import Any

from tests.customers.billing_groups.billing_groups import PATH
from tests.problem_responses import HttpResponse
from tests.running_service import Service

HANAKO = {"name": "山田 花子", "email": "hanako@example.com"}


def path_of(company_id: str, contact_id: str = "") -> str:
    return f"{PATH}/{company_id}/contacts" + (f"/{contact_id}" if contact_id else "")


def post_contact(
    service: Service, company_id: str, headers: Any = None, **fields: Any
) -> HttpResponse:
    return service.http.post(
        path_of(company_id), json=HANAKO | fields, headers=headers or service.root()
    )


def add_contact(service: Service, company_id: str, **fields: Any) -> dict[str, Any]:
    response = post_contact(service, company_id, **fields)
    assert response.status_code == 201, response.text
    contact: dict[str, Any] = response.json()
    return contact


def list_contacts(service: Service, company_id: str) -> list[dict[str, Any]]:
    response = service.http.get(path_of(company_id), headers=service.root())
    assert response.status_code == 200, response.text
    contacts: list[dict[str, Any]] = response.json()
    return contacts
