"""Sound customer accounts to start from, and how they are created."""

from __future__ import annotations

from typing import Any

from tests.answers import Answer
from tests.running_service import Service

PATH = "/m/core/accts"

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


def create(service: Service, body: dict[str, Any], headers: Any = None) -> Answer:
    return service.http.post(PATH, json=body, headers=headers or service.root())


def add_account(service: Service, company_id: str, **fields: Any) -> str:
    """An account of this group, of aws unless said otherwise; its customer_id."""
    answer = create(service, AWS | {"company_id": company_id} | fields)
    assert answer.status_code == 200, answer.text
    customer_id: str = (AWS | fields)["customer_id"]
    return customer_id


def accounts(service: Service, vendor: str, headers: Any = None) -> Any:
    answer = service.http.get(f"{PATH}?vendor={vendor}", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    return answer.json()
