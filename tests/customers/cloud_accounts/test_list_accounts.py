"""GET /m/core/accts?vendor={vendor}"""

from __future__ import annotations

from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import add_project, create_billing_group
from tests.customers.cloud_accounts.accounts import AWS, AZURE, PATH, add_account, list_accounts
from tests.problem_responses import read_violations
from tests.running_service import Service


def test_a_record_shows_the_account_and_its_group(service: Service) -> None:
    add_project(service, "prj_one")
    company_id = create_billing_group(
        service,
        service.root(),
        billinggroup_id="BG-1",
        billinggroup_name="さくら商事",
        project_id="prj_one",
    )
    add_account(service, company_id, **AZURE)
    group = {
        "company_id": company_id,
        "billinggroup_id": "BG-1",
        "billinggroup_name": "さくら商事",
        "project_id": "prj_one",
    }

    for action in (RoleAction.ReadAccount, RoleAction.ModifyAccount):
        assert list_accounts(service, "azure", service.caller(action)) == [
            {
                "customer_id": AZURE["customer_id"],
                "customer_name": AZURE["name"],
                "account_id": AZURE["account_id"],
                "vendor": "azure",
                **group,
                "note": None,
                "payer": False,
                "service_discount": None,
            }
        ]


def test_an_account_whose_two_ids_are_equal_is_a_payer(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id, customer_id="000000000042", account_id="000000000042")
    add_account(service, company_id, customer_id="000000000043", account_id="000000000042")

    accounts = list_accounts(service, "aws")

    assert [account["payer"] for account in accounts] == [True, False]
    assert [account["project_id"] for account in accounts] == [None, None]


def test_the_accounts_of_one_vendor_are_ordered_by_customer_id(service: Service) -> None:
    first, second = [
        create_billing_group(service, service.root(), billinggroup_id=id_) for id_ in "12"
    ]
    for company_id, customer_id in ((first, "9"), (second, "1"), (first, "10")):
        add_account(service, company_id, customer_id=customer_id.zfill(12))
    add_account(service, second, **AZURE)

    assert [account["customer_id"] for account in list_accounts(service, "aws")] == [
        "000000000001",
        "000000000009",
        "000000000010",
    ]
    assert [account["vendor"] for account in list_accounts(service, "azure")] == ["azure"]


def test_the_vendor_is_required_and_must_be_known(service: Service) -> None:
    for query, rule in (
        ("", "required"),
        ("?limit=1", "required"),
        ("?vendor=", "one of aws, azure"),
        ("?vendor=gcp", "one of aws, azure"),
        ("?vendor=aws&vendor=gcp", "one of aws, azure"),  # the route uses the last one
        ("?vendor=gcp&vendor=aws", "one of aws, azure"),
        ("?vendor=AWS", "one of aws, azure"),
        ("?Vendor=aws", "required"),
    ):
        response = service.http.get(PATH + query, headers=service.root())

        assert read_violations(response) == [("vendor", rule)], query


def test_only_accounts_of_visible_groups_are_listed(service: Service) -> None:
    other = service.root(service.new_organisation())
    foreign = create_billing_group(service, other, billinggroup_id="foreign")
    service.http.post(PATH, json=AWS | {"company_id": foreign}, headers=other)
    visible, hidden = [
        create_billing_group(service, service.root(), billinggroup_id=id_)
        for id_ in ("visible", "hidden")
    ]
    add_account(service, visible, customer_id="000000000001")
    add_account(service, hidden, customer_id="000000000002")

    def list_ids(billing_groups: list[str] | None) -> list[Any]:
        caller = service.caller(RoleAction.ReadAccount, billing_groups=billing_groups)
        return [account["customer_id"] for account in list_accounts(service, "aws", caller)]

    assert list_ids(None) == ["000000000001", "000000000002"]
    assert list_ids([visible]) == ["000000000001"]
    assert list_ids([foreign, "cmp_unknown"]) == []


def test_a_page_is_a_part_of_the_list(service: Service) -> None:
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    for number in range(5):
        add_account(service, company_id, customer_id=f"{number:012d}")
    complete = list_accounts(service, "aws")

    def get_page(query: str) -> Any:
        return service.http.get(f"{PATH}?vendor=aws&{query}", headers=service.root()).json()

    assert get_page("limit=2") == complete[:2]
    assert get_page("limit=2&offset=2") == complete[2:4]
    assert get_page("offset=4") == complete[4:]
    assert get_page("offset=5") == []
    assert get_page("limit=10000") == complete


def test_an_invalid_limit_is_refused(service: Service) -> None:
    for query in ("limit=0", "limit=10001", "limit=x", "limit="):
        response = service.http.get(f"{PATH}?vendor=aws&{query}", headers=service.root())

        assert read_violations(response) == [("limit", "a whole number from 1 to 10000")], query
