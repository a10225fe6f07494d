"""A sound invoice template to start from, and how templates are made and listed."""

from __future__ import annotations

from typing import Any

from tests.answers import Answer
from tests.running_service import Service

PATH = "/m/core/invoicetemplate"

# the tax agency's own number, as it publishes it
REGISTRATION_NUMBER = "T7000012050002"

TEMPLATE: dict[str, Any] = {
    "name": "標準",
    "company": "株式会社ニンビル",
    "postal": "100-8978",
    "address": "東京都千代田区霞が関3-1-1",
    "phone": "03‐3581‐4161",
    "contact": "経理部",
    "registration_number": REGISTRATION_NUMBER,
    "bank_account": "みらい銀行 本店 普通 1234567",
    "notes": "振込手数料はご負担ください。",
    "due_rule": "days",
    "due_days": 30,
    "accent_colour": "#0A7abc",
}
REQUIRED = {name: TEMPLATE[name] for name in ("name", "company")}
OPTIONAL = [name for name in TEMPLATE if name not in REQUIRED]


def create(service: Service, headers: Any = None, **fields: Any) -> Answer:
    return service.http.post(PATH, json=TEMPLATE | fields, headers=headers or service.root())


def made(service: Service, headers: Any = None, **fields: Any) -> str:
    answer = create(service, headers, **fields)
    assert answer.status_code == 200, answer.text
    invoice_template_id: str = answer.json()["invoice_template_id"]
    return invoice_template_id


def templates(service: Service, headers: Any = None) -> Any:
    answer = service.http.get(PATH, headers=headers or service.root())
    assert answer.status_code == 200
    return answer.json()
