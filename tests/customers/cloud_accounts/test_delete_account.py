"""DELETE /m/core/accts/{vendor}/{customer_id}|{account_id}"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import AWS, AZURE, PATH, add_account, list_accounts
from tests.problem_responses import HttpResponse, read_problem
from tests.raw_request import raw_request
from tests.running_service import Service
from tests.subusers import run_concurrently

BOTH_IDS = f"{AWS['customer_id']}|{AWS['account_id']}"

NOT_MATCHING = [
    ("azure", BOTH_IDS),
    ("AWS", BOTH_IDS),
    ("gcp", BOTH_IDS),
    ("aws", AWS["customer_id"]),
    ("aws", f"{AWS['customer_id']}|"),
    ("aws", f"|{AWS['account_id']}"),
    ("aws", "|"),
    ("aws", f"{AWS['customer_id']}|000000000043"),
    ("aws", f"000000000001|{AWS['account_id']}"),
    ("aws", f"{AWS['account_id']}|{AWS['customer_id']}"),
    ("aws", f"{BOTH_IDS}|"),
    ("aws", f"|{BOTH_IDS}"),
    ("aws", f"{BOTH_IDS}|{AWS['account_id']}"),
    ("aws", BOTH_IDS.replace("|", "%7C")),
    ("aws", BOTH_IDS.replace("|", "/")),
    ("aws", BOTH_IDS.lstrip("0")),
    ("aws", f" {BOTH_IDS}"),
]
SPECIAL_CHARACTERS = [
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    "a|b|c|d|e|f|g|h|",
    "||||||||||||||||",
    "a b?c#d%2Fe%7Cf;g",
    "%00%2e%2e%5c%00%00",
    "\\..\\..\\..\\..\\..\\",
    "................",
    "購読番号🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸",
    "line\nline\ttab\rline",
]


@pytest.fixture
def company_id(service: Service) -> str:
    """A group with the account BOTH_IDS."""
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id)
    return company_id


def delete(service: Service, vendor: str, both_ids: str, headers: Any = None) -> HttpResponse:
    """Send the ids fully percent-encoded."""
    path = f"{PATH}/{vendor}/{quote(both_ids, safe='')}"
    return raw_request(service, "DELETE", path.encode(), headers=headers or service.root())


def test_the_separator_may_be_percent_encoded(service: Service, company_id: str) -> None:
    headers = service.caller(RoleAction.ModifyAccount)

    for separator in ("|", "%7C", "%7c"):
        path = f"{PATH}/aws/{AWS['customer_id']}{separator}{AWS['account_id']}".encode()
        response = raw_request(service, "DELETE", path, headers=headers)

        assert response.status_code == 200
        assert response.json() == {"status": "success"}
        assert list_accounts(service, "aws") == []
        add_account(service, company_id)


def test_only_the_named_account_is_deleted(service: Service, company_id: str) -> None:
    add_account(service, company_id, customer_id="000000000001")
    add_account(service, company_id, **AZURE)

    assert delete(service, "aws", BOTH_IDS).status_code == 200

    assert [account["customer_id"] for account in list_accounts(service, "aws")] == ["000000000001"]
    assert len(list_accounts(service, "azure")) == 1


def test_the_vendor_and_both_ids_must_match(service: Service, company_id: str) -> None:
    for vendor, both_ids in NOT_MATCHING:
        read_problem(delete(service, vendor, both_ids), 404)

    assert len(list_accounts(service, "aws")) == 1


def test_an_azure_id_may_contain_special_characters(service: Service, company_id: str) -> None:
    for customer_id in SPECIAL_CHARACTERS:
        add_account(service, company_id, **AZURE | {"customer_id": customer_id})

        read_problem(delete(service, "azure", f"{customer_id}|0000043"), 404)
        response = delete(service, "azure", f"{customer_id}|{AZURE['account_id']}")

        assert response.status_code == 200, customer_id
        assert list_accounts(service, "azure") == []


def test_unknown_foreign_hidden_and_deleted_accounts_are_not_found(
    service: Service, company_id: str
) -> None:
    other = service.root(service.new_organisation())
    foreign_group = create_billing_group(service, other, billinggroup_id="foreign")
    foreign = AWS | {"company_id": foreign_group, "customer_id": "000000000003"}
    service.http.post(PATH, json=foreign, headers=other)
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    add_account(service, hidden, customer_id="000000000002")
    restricted = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])
    assert delete(service, "aws", BOTH_IDS, restricted).status_code == 200

    for number in (1, 2, 3, AWS["customer_id"]):
        both_ids = f"{number:0>12}|{AWS['account_id']}"
        response = delete(service, "aws", both_ids, restricted)
        assert read_problem(response, 404)["code"] == "not_found"
    assert len(list_accounts(service, "aws")) == len(list_accounts(service, "aws", other)) == 1


def test_only_one_of_many_concurrent_deletions_succeeds(service: Service, company_id: str) -> None:
    headers = service.root()
    path = f"{PATH}/aws/{BOTH_IDS}"

    responses = run_concurrently([lambda: service.http.delete(path, headers=headers)] * 5)

    assert sorted(response.status_code for response in responses) == [200, 404, 404, 404, 404]


def test_each_change_of_an_account_adds_an_audit_row(service: Service, company_id: str) -> None:
    body = {name: AWS[name] for name in ("vendor", "account_id", "name")}
    path = f"{PATH}/{AWS['customer_id']}/edit"
    service.http.put(path, json=body | {"company_id": company_id}, headers=service.root())
    delete(service, "aws", BOTH_IDS)

    rows = service.http.get("/m/core/audit", headers=service.root()).json()[:3]
    assert [(row["action"], row["resource"]) for row in rows] == [
        ("delete_account", f"acct/{BOTH_IDS}"),
        ("update_account", f"acct/{AWS['customer_id']}"),
        ("create_account", f"acct/{AWS['customer_id']}"),
    ]
