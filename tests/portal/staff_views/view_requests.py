"""Begins views of the portal and uses their tokens."""

from __future__ import annotations

from typing import Any

import httpx

from tests.identity.login.token_requests import bearer_headers
from tests.running_service import Service

VIEWS = "/m/core/portal-views"
ME = "/m/portal/me"


def begin(
    service: Service, company_id: str, headers: dict[str, str] | None = None, **fields: str
) -> httpx.Response:
    body = {"company_id": company_id, **fields}
    return service.http.post(VIEWS, json=body, headers=headers or service.root())


def begin_view(
    service: Service, company_id: str, headers: dict[str, str] | None = None, **fields: str
) -> dict[str, Any]:
    response = begin(service, company_id, headers, **fields)
    assert response.status_code == 200, response.text
    view: dict[str, Any] = response.json()
    return view


def view_headers(view: dict[str, Any]) -> dict[str, str]:
    return bearer_headers(view["access_token"])


def is_open(service: Service, view: dict[str, Any]) -> bool:
    response = service.http.get(ME, headers=view_headers(view))
    assert response.status_code in (200, 401), response.text
    return response.status_code == 200


def end(service: Service, view: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    return service.http.delete(f"/m/portal/views/{view['view_id']}", headers=headers)
