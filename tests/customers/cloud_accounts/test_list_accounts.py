"""GET /m/core/accts?vendor={vendor}"""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import violations_of
from tests.customers.billing_groups.stored import add_project
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import AWS, AZURE, PATH, accounts, add_account
from tests.running_service import Service


def test_a_record_has_these_fields(service: Service) -> None:
    add_project(service, "prj_one")
    company_id = create_group(
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
        assert accounts(service, "azure", service.caller(action)) == [
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


def test_a_payer_is_its_own_account(service: Service) -> None:
    company_id = create_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id, customer_id="000000000042", account_id="000000000042")
    add_account(service, company_id, customer_id="000000000043", account_id="000000000042")

    listed = accounts(service, "aws")

    assert [account["payer"] for account in listed] == [True, False]
    assert [account["project_id"] for account in listed] == [None, None]


def test_accounts_of_one_vendor_come_by_their_number(service: Service) -> None:
    first, second = [create_group(service, service.root(), billinggroup_id=one) for one in "12"]
    for company_id, customer_id in ((first, "9"), (second, "1"), (first, "10")):
        add_account(service, company_id, customer_id=customer_id.zfill(12))
    add_account(service, second, **AZURE)

    assert [account["customer_id"] for account in accounts(service, "aws")] == [
        "000000000001",
        "000000000009",
        "000000000010",
    ]
    assert [account["vendor"] for account in accounts(service, "azure")] == ["azure"]


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("", "required"),
        ("?limit=1", "required"),
        ("?vendor=", "one of aws, azure"),
        ("?vendor=gcp", "one of aws, azure"),
        ("?vendor=AWS", "one of aws, azure"),
        ("?Vendor=aws", "required"),
    ],
)
def test_the_vendor_must_be_named(service: Service, query: str, rule: str) -> None:
    answer = service.http.get(PATH + query, headers=service.root())

    assert violations_of(answer) == [("vendor", rule)]


def test_only_accounts_of_groups_one_may_see_are_listed(service: Service) -> None:
    other = service.root(service.new_organisation())
    theirs = create_group(service, other, billinggroup_id="theirs")
    service.http.post(PATH, json=AWS | {"company_id": theirs}, headers=other)
    seen, hidden = [
        create_group(service, service.root(), billinggroup_id=one) for one in ("seen", "hidden")
    ]
    add_account(service, seen, customer_id="000000000001")
    add_account(service, hidden, customer_id="000000000002")

    def listed(billing_groups: list[str] | None) -> list[Any]:
        caller = service.caller(RoleAction.ReadAccount, billing_groups=billing_groups)
        return [account["customer_id"] for account in accounts(service, "aws", caller)]

    assert listed(None) == ["000000000001", "000000000002"]
    assert listed([seen]) == ["000000000001"]
    assert listed([theirs, "cmp_never_was"]) == []


def test_a_page_is_a_part_of_the_whole_list(service: Service) -> None:
    company_id = create_group(service, service.root(), billinggroup_id="BG")
    for number in range(5):
        add_account(service, company_id, customer_id=f"{number:012d}")
    whole = accounts(service, "aws")

    def page(query: str) -> Any:
        return service.http.get(f"{PATH}?vendor=aws&{query}", headers=service.root()).json()

    assert page("limit=2") == whole[:2]
    assert page("limit=2&offset=2") == whole[2:4]
    assert page("offset=4") == whole[4:]
    assert page("offset=5") == []
    assert page("limit=10000") == whole


@pytest.mark.parametrize("query", ["limit=0", "limit=10001", "limit=x", "limit="])
def test_a_page_that_cannot_be_is_refused(service: Service, query: str) -> None:
    answer = service.http.get(f"{PATH}?vendor=aws&{query}", headers=service.root())

    assert violations_of(answer) == [("limit", "a whole number from 1 to 10000")]
