"""DELETE /m/core/accts/{vendor}/{customer_id}|{account_id}"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import AWS, AZURE, PATH, accounts, add_account
from tests.people import all_at_once
from tests.raw_request import raw_request
from tests.running_service import Service

BOTH = f"{AWS['customer_id']}|{AWS['account_id']}"


@pytest.fixture
def company_id(service: Service) -> str:
    company_id = create_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id)
    return company_id


def delete(service: Service, vendor: str, both_ids: str, headers: Any = None) -> Answer:
    """With everything encoded, as a careful client sends it."""
    path = f"{PATH}/{vendor}/{quote(both_ids, safe='')}"
    return raw_request(service, "DELETE", path.encode(), headers=headers or service.root())


@pytest.mark.parametrize("bar", ["|", "%7C", "%7c"])
def test_the_bar_may_come_encoded_or_not(service: Service, company_id: str, bar: str) -> None:
    path = f"{PATH}/aws/{AWS['customer_id']}{bar}{AWS['account_id']}".encode()

    answer = raw_request(service, "DELETE", path, headers=service.caller(RoleAction.ModifyAccount))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    assert accounts(service, "aws") == []


def test_only_the_account_that_is_named_goes(service: Service, company_id: str) -> None:
    add_account(service, company_id, customer_id="000000000001")
    add_account(service, company_id, **AZURE)

    assert delete(service, "aws", BOTH).status_code == 200

    assert [account["customer_id"] for account in accounts(service, "aws")] == ["000000000001"]
    assert len(accounts(service, "azure")) == 1


@pytest.mark.parametrize(
    ("vendor", "both_ids"),
    [
        ("azure", BOTH),
        ("AWS", BOTH),
        ("gcp", BOTH),
        ("aws", AWS["customer_id"]),
        ("aws", f"{AWS['customer_id']}|"),
        ("aws", f"|{AWS['account_id']}"),
        ("aws", "|"),
        ("aws", f"{AWS['customer_id']}|000000000043"),
        ("aws", f"000000000001|{AWS['account_id']}"),
        ("aws", f"{AWS['account_id']}|{AWS['customer_id']}"),
        ("aws", f"{BOTH}|"),
        ("aws", f"|{BOTH}"),
        ("aws", f"{BOTH}|{AWS['account_id']}"),
        ("aws", BOTH.replace("|", "%7C")),
        ("aws", BOTH.replace("|", "/")),
        ("aws", BOTH.lstrip("0")),
        ("aws", f" {BOTH}"),
    ],
)
def test_both_halves_and_the_vendor_must_match(
    service: Service, company_id: str, vendor: str, both_ids: str
) -> None:
    problem_of(delete(service, vendor, both_ids), 404)
    assert len(accounts(service, "aws")) == 1


@pytest.mark.parametrize(
    "customer_id",
    [
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "a|b|c|d|e|f|g|h|",
        "||||||||||||||||",
        "a b?c#d%2Fe%7Cf;g",
        "%00%2e%2e%5c%00%00",
        "\\..\\..\\..\\..\\..\\",
        "................",
        "購読番号🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸🌸",
        "line\nline\ttab\rline",
    ],
)
def test_an_id_of_azure_may_hold_odd_characters(
    service: Service, company_id: str, customer_id: str
) -> None:
    add_account(service, company_id, **AZURE | {"customer_id": customer_id})

    problem_of(delete(service, "azure", f"{customer_id}|0000043"), 404)
    answer = delete(service, "azure", f"{customer_id}|{AZURE['account_id']}")

    assert answer.status_code == 200
    assert accounts(service, "azure") == []


def test_unknown_foreign_hidden_and_deleted_accounts_are_not_there(
    service: Service, company_id: str
) -> None:
    other = service.root(service.new_organisation())
    theirs = create_group(service, other, billinggroup_id="theirs")
    foreign = AWS | {"company_id": theirs, "customer_id": "000000000003"}
    service.http.post(PATH, json=foreign, headers=other)
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    add_account(service, hidden, customer_id="000000000002")
    narrowed = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])
    assert delete(service, "aws", BOTH, narrowed).status_code == 200

    for number in (1, 2, 3, AWS["customer_id"]):
        both_ids = f"{number:0>12}|{AWS['account_id']}"
        answer = delete(service, "aws", both_ids, narrowed)
        assert problem_of(answer, 404)["code"] == "not_found"
    assert len(accounts(service, "aws")) == len(accounts(service, "aws", other)) == 1


def test_of_many_that_delete_it_at_once_one_finds_it(service: Service, company_id: str) -> None:
    headers = service.root()
    path = f"{PATH}/aws/{BOTH}"

    answers = all_at_once([lambda: service.http.delete(path, headers=headers)] * 5)

    assert sorted(answer.status_code for answer in answers) == [200, 404, 404, 404, 404]


def test_each_change_of_an_account_is_written_down(service: Service, company_id: str) -> None:
    body = {name: AWS[name] for name in ("vendor", "account_id", "name")}
    path = f"{PATH}/{AWS['customer_id']}/edit"
    service.http.put(path, json=body | {"company_id": company_id}, headers=service.root())
    delete(service, "aws", BOTH)

    rows = service.http.get("/m/core/audit", headers=service.root()).json()[:3]
    assert [(row["action"], row["resource"]) for row in rows] == [
        ("delete_account", f"acct/{BOTH}"),
        ("update_account", f"acct/{AWS['customer_id']}"),
        ("create_account", f"acct/{AWS['customer_id']}"),
    ]
