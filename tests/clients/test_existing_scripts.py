"""Requests of existing scripts: null, unknown fields, unusual hyphens and headers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.customers.billing_groups.sample_bodies import VALID_SETTING, VALID_SETTING_UPDATE
from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service

CORE = "/m/core"
PHONE = "03‐1234‐5678"  # U+2010, the hyphen of word processors


class ExistingScript:
    """Sends JSON as such scripts do and requires status 200."""

    def __init__(self, service: Service, content_type: str) -> None:
        self._http = service.http
        self._headers = service.root() | {"Content-Type": content_type, "Accept": "*/*"}

    def send(self, method: str, path: str, body: Any = None) -> Any:
        content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        response = self._http.request(method, CORE + path, content=content, headers=self._headers)
        assert response.status_code == 200, (method, path, response.text)
        return response.json()


@pytest.fixture(
    params=[
        "application/json;",
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8;",
    ]
)
def script(service: Service, request: pytest.FixtureRequest) -> ExistingScript:
    return ExistingScript(service, request.param)


def build_group(**fields: Any) -> dict[str, Any]:
    """Build a body with every field, null where the script has no value, and unknown fields."""
    null_fields = ("postal", "address", "billing_title", "personal", "remarks", "project_id")
    unknown_fields = {
        "custom_fields": {},
        "vendor": "aws",
        "tag": [],
        "account": [],
        "api_version": 2,
    }
    return {
        "billinggroup_id": "BG-0001",
        "billinggroup_name": "さくら商事",
        "company_name": "株式会社さくら商事",
        "phone": PHONE,
        **dict.fromkeys((*null_fields, "language")),
        **unknown_fields,
        **fields,
    }


def test_a_customer_is_created_changed_and_deleted(script: ExistingScript) -> None:
    project = script.send(
        "POST",
        "/project",
        {"project_code": "P1", "project_label": "移行", "project_currency": "jpy", "note": None},
    )["project_id"]
    creation = build_group(
        inv_aggregate=True,
        invoice_template_id=None,
        invoices={"aws": VALID_SETTING | {"vendor": "aws", "memo": None}},
    )
    company_id = script.send("POST", "/billinggroup", creation)["company_id"]
    account = {
        "vendor": "aws",
        "customer_id": "012345678901",
        "account_id": "000000000042",
        "company_id": company_id,
        "name": "さくら本番",
        "note": None,
        "service_discount": None,
    }
    script.send("POST", "/accts", account)
    script.send(
        "POST", f"/billinggroup/{company_id}", build_group(project_id=project, inv_aggregate=None)
    )
    setting = {
        "vendor": "aws",
        "invoices": VALID_SETTING_UPDATE | {"memo": None},
        "company_id": company_id,
    }
    script.send("POST", f"/billinggroup/{company_id}/invoices", setting)
    item = {"enabled": True, "label": "運用", "unit_cost": 1.5, "quantity": 2, "total": 3, "id": 1}
    items = {"additional_items": [item], "vendor": "aws"}
    script.send("POST", f"/billinggroup/{company_id}/freeformat/aws", items)

    record = script.send("GET", f"/billinggroup/{company_id}/resource")

    assert record["phone"] == PHONE
    assert record["invoices"] == {"aws": VALID_SETTING_UPDATE}
    assert record["project_id"] == project
    assert [account["customer_id"] for account in record["account"]] == ["012345678901"]
    assert [item["label"] for item in record["additional_items"]["aws"]] == ["運用"]
    assert script.send("GET", "/billinggroup") == [record]

    script.send("PUT", "/accts/012345678901/edit", account | {"name": "さくら予備"})
    (listed,) = script.send("GET", "/accts?vendor=aws")
    assert listed["customer_name"] == "さくら予備"
    script.send("DELETE", f"/billinggroup/{company_id}/freeformat")
    script.send("DELETE", "/accts/aws/012345678901|000000000042")
    script.send("DELETE", f"/billinggroup/{company_id}")
    script.send("DELETE", f"/project/{project}")
    assert script.send("GET", "/billinggroup") == script.send("GET", "/project") == []


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"]
)
def test_another_content_type_is_refused(service: Service, content_type: str) -> None:
    headers = service.root() | {"Content-Type": content_type}
    body = json.dumps(build_group(inv_aggregate=True)).encode()

    response: HttpResponse = service.http.post(
        f"{CORE}/billinggroup", content=body, headers=headers
    )

    assert read_problem(response, 415)["code"] == "media_type"
