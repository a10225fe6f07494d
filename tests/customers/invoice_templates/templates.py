"""Create and list invoice templates."""

from __future__ import annotations

from typing import Any

from tests.problem_responses import HttpResponse
from tests.running_service import Service

PATH = "/m/core/invoicetemplate"

# the registration number of the National Tax Agency
REGISTRATION_NUMBER = "T7000012050002"

# a valid body with every field
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


def post_template(service: Service, headers: Any = None, **fields: Any) -> HttpResponse:
    return service.http.post(PATH, json=TEMPLATE | fields, headers=headers or service.root())


def create_template(service: Service, headers: Any = None, **fields: Any) -> str:
    """Create a template and return its id."""
    response = post_template(service, headers, **fields)
    assert response.status_code == 200, response.text
    invoice_template_id: str = response.json()["invoice_template_id"]
    return invoice_template_id


def list_templates(service: Service, headers: Any = None) -> Any:
    response = service.http.get(PATH, headers=headers or service.root())
    assert response.status_code == 200
    return response.json()
