"""GET /m/core/billinggroup/{company_id}/resource"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of
from tests.customers.billing_groups.bodies import SOUND_SETTING
from tests.customers.billing_groups.stored import PATH, create
from tests.running_service import Service


def details(service: Service, headers: dict[str, str], company_id: str) -> Any:
    return service.http.get(f"{PATH}/{company_id}/resource", headers=headers)


def test_one_group_is_found_by_its_internal_id(service: Service) -> None:
    company_id = create(
        service,
        service.root(),
        billinggroup_id="BG-0001",
        billinggroup_name="さくら商事",
        company_name="株式会社さくら商事",
        personal="髙橋 一郎 様",
        billing_title="ご請求書",
        phone="03‐1234‐5678",
        invoices={"azure": SOUND_SETTING},
        language="en",
    )

    answer = details(service, service.root(), company_id)

    assert answer.status_code == 200
    record = answer.json()
    assert record["company_id"] == company_id
    assert record["billinggroup_id"] == "BG-0001"
    assert record["name"] == "株式会社さくら商事"
    assert record["contact"] == "髙橋 一郎 様"
    assert record["title"] == "ご請求書"
    assert record["phone"] == "03‐1234‐5678"
    assert record["language"] == "en"
    assert record["invoices"] == {"azure": SOUND_SETTING}


def test_the_groups_own_number_is_not_its_internal_id(service: Service) -> None:
    create(service, service.root(), billinggroup_id="BG-0001")

    problem_of(details(service, service.root(), "BG-0001"), 404)


def test_unknown_foreign_and_hidden_groups_have_the_same_answer(service: Service) -> None:
    other = service.root(service.new_organisation())
    foreign = create(service, other, billinggroup_id="theirs")
    hidden = create(service, service.root(), billinggroup_id="hidden")
    seen = create(service, service.root(), billinggroup_id="seen")
    narrowed = service.caller(RoleAction.ReadBillingGroup, billing_groups=[seen])

    answers = [
        details(service, narrowed, company_id)
        for company_id in (
            "cmp_never_was",
            foreign,
            hidden,
            "名",
            "a" * 5000,
            "'; DROP TABLE users",
        )
    ]

    def without_request_id(answer: Any) -> tuple[str, list[tuple[str, str]]]:
        request_id = answer.headers["x-request-id"]
        headers = [(n, v) for n, v in answer.headers.items() if n != "x-request-id"]
        return answer.text.replace(request_id, ""), headers

    for answer in answers:
        assert problem_of(answer, 404)["code"] == "not_found"
        assert without_request_id(answer) == without_request_id(answers[0])
    assert details(service, narrowed, seen).status_code == 200
    assert details(service, service.root(), hidden).status_code == 200


def test_a_group_hidden_by_a_filter_that_names_others_stays_hidden(service: Service) -> None:
    company_id = create(service, service.root(), billinggroup_id="BG")
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=["cmp_never_was"])

    problem_of(details(service, narrowed, company_id), 404)
