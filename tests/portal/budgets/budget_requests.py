"""Requests that read and change budgets."""

from __future__ import annotations

from typing import Any

from tests.portal.portal_customer import PORTAL, PortalCustomer
from tests.problem_responses import HttpResponse

BUDGETS = "/budgets"
ALERTS = "/budgets/alerts"

COMPANY_BUDGET: dict[str, Any] = {
    "name": "everything",
    "target": "company",
    "amount": 50_000,
    "thresholds": [{"percent": 50, "of": "actual"}, {"percent": 100, "of": "forecast"}],
}


def put(customer: PortalCustomer, path: str, body: Any, headers: Any = None) -> HttpResponse:
    return customer.service.http.put(
        PORTAL + path, json=body, headers=headers or customer.reseller.portal
    )


def store_budgets(customer: PortalCustomer, *budgets: dict[str, Any]) -> list[dict[str, Any]]:
    """Replace the budgets and return them."""
    response = put(customer, BUDGETS, {"budgets": budgets})
    assert response.status_code == 200, response.text
    stored: list[dict[str, Any]] = response.json()["budgets"]
    return stored


def store_alerts(customer: PortalCustomer, *recipients: str, **fields: Any) -> None:
    body = {"enabled": True, "recipients": recipients, "language": "en"} | fields
    response = put(customer, ALERTS, body)
    assert response.status_code == 200, response.text
