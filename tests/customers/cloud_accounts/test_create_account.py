"""POST /m/core/accts"""

from __future__ import annotations

from collections import Counter

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation.vendors import Vendor
from tests.costs.generated_months import build_line
from tests.costs.stored_months import store_month
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import (
    AWS,
    AZURE,
    add_account,
    list_accounts,
    post_account,
)
from tests.customers.cloud_accounts.test_account_number_rules import VALID
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import run_concurrently

BODIES = {"aws": AWS, "azure": AZURE}


@pytest.fixture
def company_id(service: Service) -> str:
    return create_billing_group(service, service.root(), billinggroup_id="BG")


@pytest.mark.parametrize("vendor", BODIES)
def test_an_account_is_added_to_its_group(service: Service, company_id: str, vendor: str) -> None:
    body = BODIES[vendor] | {"company_id": company_id, "note": "メモ"}

    response = post_account(service, body, service.caller(RoleAction.ModifyAccount))

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    (account,) = list_accounts(service, vendor)
    assert account["customer_id"] == body["customer_id"]
    assert account["customer_name"] == body["name"]
    assert account["account_id"] == body["account_id"]
    assert account["company_id"] == company_id
    assert account["note"] == "メモ"


@pytest.mark.parametrize("vendor", BODIES)
def test_valid_numbers_are_stored_unchanged(service: Service, company_id: str, vendor: str) -> None:
    customer_ids, account_ids = VALID[vendor, "customer_id"], VALID[vendor, "account_id"]
    numbers = {
        customer_id: account_ids[position % len(account_ids)]
        for position, customer_id in enumerate(customer_ids)
    }

    for customer_id, account_id in numbers.items():
        ids = {"customer_id": customer_id, "account_id": account_id}
        add_account(service, company_id, **BODIES[vendor] | ids)

    accounts = list_accounts(service, vendor)
    assert {account["customer_id"]: account["account_id"] for account in accounts} == numbers


def test_leading_zeros_are_significant(service: Service, company_id: str) -> None:
    for customer_id in ("0123456789abcdef", "00123456789abcdef", "000123456789abcdef"):
        add_account(service, company_id, **AZURE | {"customer_id": customer_id})

    assert len(list_accounts(service, "azure")) == 3


def test_names_and_notes_are_stored_unchanged(service: Service, company_id: str) -> None:
    texts = [("abc", None), ("長" * 3, ""), ("🌸" * 100, "長" * 5000)]

    for number, (name, note) in enumerate(texts):
        add_account(service, company_id, customer_id=f"{number:012d}", name=name, note=note)

    accounts = list_accounts(service, "aws")
    assert [(account["customer_name"], account["note"]) for account in accounts] == texts


def test_all_violations_are_reported_at_once(service: Service) -> None:
    invalid = {"customer_id": "1", "account_id": "2", "name": "x", "note": 7}

    response = post_account(service, AWS | {"company_id": "cmp_unknown"} | invalid)

    assert [field for field, _ in read_violations(response)] == [
        *("name", "note", "customer_id", "account_id")
    ]
    assert list_accounts(service, "aws") == []


# ── visibility and uniqueness ────────────────────────────────────────────────────────────────────


def test_unknown_and_foreign_groups_are_refused(service: Service, company_id: str) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")

    for unknown in ("", "BG", "cmp_unknown", foreign):
        response = post_account(service, AWS | {"company_id": unknown})
        assert read_violations(response) == [("company_id", "an existing billing group")]


def test_a_customer_id_is_unique_across_vendors(service: Service, company_id: str) -> None:
    shared = "0123456789abcdef"
    add_account(service, company_id, **AZURE | {"customer_id": shared})
    add_account(service, company_id)

    for body in (AWS, AZURE | {"customer_id": shared}):
        response = post_account(service, body | {"company_id": company_id, "name": "another"})
        assert read_problem(response, 409)["code"] == "customer_id_taken"


def test_restricted_users_add_new_accounts_to_their_own_groups(
    service: Service, company_id: str
) -> None:
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    restricted = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    refused = post_account(service, AWS | {"company_id": hidden}, restricted)
    added = post_account(service, AWS | {"company_id": company_id}, restricted)
    again = post_account(service, AWS | {"company_id": company_id}, restricted)

    assert read_violations(refused) == [("company_id", "an existing billing group")]
    assert added.status_code == 200, added.text
    assert read_problem(again, 409)["code"] == "customer_id_taken"
    assert [account["company_id"] for account in list_accounts(service, "aws")] == [company_id]


def test_restricted_users_cannot_add_an_account_of_a_group_they_do_not_see(
    service: Service, company_id: str
) -> None:
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    add_account(service, hidden)
    restricted = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    response = post_account(service, AWS | {"company_id": company_id}, restricted)

    assert read_problem(response, 403)["code"] == "narrowed_caller"
    assert [account["company_id"] for account in list_accounts(service, "aws")] == [hidden]


@pytest.mark.parametrize("vendor", ["aws", "gcp"])
def test_restricted_users_cannot_add_an_account_that_has_costs(
    service: Service, company_id: str, vendor: Vendor
) -> None:
    """Adding it would show its costs to the caller, and bill them to the caller's group."""
    lines = [build_line(customer_id=AWS["customer_id"])]
    store_month(service, lines, vendor=vendor)
    restricted = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])
    body = AWS | {"company_id": company_id}

    response = post_account(service, body, restricted)

    assert read_problem(response, 403)["code"] == "narrowed_caller"
    assert list_accounts(service, "aws") == []
    assert post_account(service, body).status_code == 200


def test_another_organisation_may_use_the_same_customer_id(
    service: Service, company_id: str
) -> None:
    other = service.root(service.new_organisation())
    foreign = create_billing_group(service, other, billinggroup_id="BG")
    add_account(service, company_id)

    assert post_account(service, AWS | {"company_id": foreign}, other).status_code == 200
    assert len(list_accounts(service, "aws", other)) == 1


def test_only_one_of_many_concurrent_requests_gets_the_customer_id(
    service: Service, company_id: str
) -> None:
    body = AWS | {"company_id": company_id}
    headers = service.root()

    responses = run_concurrently([lambda: post_account(service, body, headers)] * 8)

    outcomes = Counter((each.status_code, each.json().get("code")) for each in responses)
    assert outcomes == {(200, None): 1, (409, "customer_id_taken"): 7}
    assert len(list_accounts(service, "aws")) == 1
