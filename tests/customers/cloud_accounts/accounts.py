"""Create and list cloud accounts."""

from __future__ import annotations

from typing import Any

from tests.problem_responses import HttpResponse
from tests.running_service import Service

PATH = "/m/core/accts"

# valid bodies without the company_id of their billing group
AWS: dict[str, Any] = {
    "vendor": "aws",
    "customer_id": "012345678901",
    "account_id": "000000000042",
    "name": "さくら本番",
}
AZURE: dict[str, Any] = {
    "vendor": "azure",
    "customer_id": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "account_id": "0000042",
    "name": "さくら検証",
}


def post_account(service: Service, body: dict[str, Any], headers: Any = None) -> HttpResponse:
    return service.http.post(PATH, json=body, headers=headers or service.root())


def add_account(service: Service, company_id: str, **fields: Any) -> str:
    """Add an account to the group, at aws unless `fields` say otherwise; return its customer_id."""
    response = post_account(service, AWS | {"company_id": company_id} | fields)
    assert response.status_code == 200, response.text
    customer_id: str = (AWS | fields)["customer_id"]
    return customer_id


def list_accounts(service: Service, vendor: str, headers: Any = None) -> Any:
    response = service.http.get(f"{PATH}?vendor={vendor}", headers=headers or service.root())
    assert response.status_code == 200, response.text
    return response.json()
