"""GET /m/core/billinggroup/{company_id}/resource"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import PATH, create_billing_group
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.problem_responses import read_problem
from tests.running_service import Service


def get_details(service: Service, headers: dict[str, str], company_id: str) -> Any:
    return service.http.get(f"{PATH}/{company_id}/resource", headers=headers)


def test_a_group_is_found_by_its_company_id(service: Service) -> None:
    company_id = create_billing_group(
        service,
        service.root(),
        billinggroup_id="BG-0001",
        billinggroup_name="さくら商事",
        company_name="株式会社さくら商事",
        personal="髙橋 一郎 様",
        billing_title="ご請求書",
        phone="03‐1234‐5678",
        invoices={"azure": VALID_SETTING},
        language="en",
    )

    response = get_details(service, service.root(), company_id)

    assert response.status_code == 200
    record = response.json()
    assert record["company_id"] == company_id
    assert record["billinggroup_id"] == "BG-0001"
    assert record["name"] == "株式会社さくら商事"
    assert record["contact"] == "髙橋 一郎 様"
    assert record["title"] == "ご請求書"
    assert record["phone"] == "03‐1234‐5678"
    assert record["language"] == "en"
    assert record["invoices"] == {"azure": VALID_SETTING}


def test_a_group_is_not_found_by_its_billinggroup_id(service: Service) -> None:
    create_billing_group(service, service.root(), billinggroup_id="BG-0001")

    read_problem(get_details(service, service.root(), "BG-0001"), 404)


def test_unknown_foreign_and_hidden_groups_have_identical_responses(service: Service) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    visible = create_billing_group(service, service.root(), billinggroup_id="visible")
    restricted = service.caller(RoleAction.ReadBillingGroup, billing_groups=[visible])

    responses = [
        get_details(service, restricted, company_id)
        for company_id in (
            "cmp_unknown",
            foreign,
            hidden,
            "名",
            "a" * 5000,
            "'; DROP TABLE users",
        )
    ]

    def without_request_id(response: Any) -> tuple[str, list[tuple[str, str]]]:
        request_id = response.headers["x-request-id"]
        headers = [(n, v) for n, v in response.headers.items() if n != "x-request-id"]
        return response.text.replace(request_id, ""), headers

    for response in responses:
        assert read_problem(response, 404)["code"] == "not_found"
        assert without_request_id(response) == without_request_id(responses[0])
    assert get_details(service, restricted, visible).status_code == 200
    assert get_details(service, service.root(), hidden).status_code == 200


def test_a_filter_on_an_unknown_group_hides_all_others(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=["cmp_unknown"])

    read_problem(get_details(service, restricted, company_id), 404)
