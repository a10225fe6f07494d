"""GET /m/core/accts/unassigned and POST /m/core/accts/assign"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.http.list_parameters import TOTAL_HEADER
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.imports.aws_reports import COLUMNS, CUSTOMER, MONTH, PAYER, build_report
from tests.imports.in_process_importer import InProcessImporter
from tests.problem_responses import read_problem
from tests.running_service import Service

UNASSIGNED, ASSIGN, ACCOUNTS = (f"/m/core/accts{end}" for end in ("/unassigned", "/assign", ""))
NAMED, UNNAMED = CUSTOMER, "333333333333"
NAME = "lineItem/UsageAccountName"


def add_group(service: Service, billinggroup_id: str, name: str) -> str:
    names = {"billinggroup_id": billinggroup_id, "billinggroup_name": name, "company_name": name}
    return create_billing_group(service, service.root(), **names)


@pytest.fixture
def company(service: Service, importer: InProcessImporter, tmp_path: Path) -> str:
    """A group, and the costs of two accounts that are in no group; the files name one of them."""
    company_id = add_group(service, "BG-1", "Aozora Trading")
    add_group(service, "BG-9", "Midori Foods")
    lines = [{NAME: "aozora-trading-prod"}, {"lineItem/UsageAccountId": UNNAMED}]
    (tmp_path / "report.csv").write_bytes(build_report(lines, {**COLUMNS, NAME: ""}))
    assert importer(tmp_path / "report.csv")["state"] == "done"
    return company_id


def list_unassigned(service: Service, **query: Any) -> list[dict[str, Any]]:
    answer = service.http.get(UNASSIGNED, params={"vendor": "aws", **query}, headers=service.root())
    assert answer.status_code == 200, answer.text
    accounts: list[dict[str, Any]] = answer.json()
    return accounts


def assign(service: Service, company_id: str, *accounts: dict[str, Any], **headers: Any) -> Any:
    return service.http.post(
        ASSIGN,
        json={"company_id": company_id, "accounts": accounts},
        headers=headers.get("headers") or service.root(),
    )


def account(customer_id: str, **fields: Any) -> dict[str, Any]:
    return {"vendor": "aws", "customer_id": customer_id, "account_id": PAYER, **fields}


def test_accounts_with_costs_in_no_group_are_listed_with_a_suggestion(
    service: Service, company: str
) -> None:
    named, unnamed = list_unassigned(service)

    assert named == {
        "vendor": "aws",
        "customer_id": NAMED,
        "account_id": PAYER,
        "name": "aozora-trading-prod",
        "month": MONTH,
        "costs": [{"currency": "USD", "cost": 1.25}],
        "suggestion": {
            "company_id": company,
            "billinggroup_id": "BG-1",
            "billinggroup_name": "Aozora Trading",
            "reason": "similar_name",
            "similarity": 100,
        },
    }
    assert (unnamed["customer_id"], unnamed["name"]) == (UNNAMED, None)
    assert unnamed["suggestion"] is None
    assert list_unassigned(service, search="TRADING") == [named]
    assert list_unassigned(service, month="2026-08") == []
    page = service.http.get(
        UNASSIGNED, params={"vendor": "aws", "limit": 1, "offset": 1}, headers=service.root()
    )
    assert (page.json(), page.headers[TOTAL_HEADER]) == ([unnamed], "2")


def test_a_restricted_caller_sees_no_unassigned_account(service: Service, company: str) -> None:
    headers = service.caller(RoleAction.ReadAccount, billing_groups=[company])

    answer = service.http.get(UNASSIGNED, params={"vendor": "aws"}, headers=headers)

    assert (answer.json(), answer.headers[TOTAL_HEADER]) == ([], "0")


def test_many_accounts_are_assigned_at_once_and_an_account_that_left_is_suggested_its_group(
    service: Service, company: str
) -> None:
    assigned = assign(service, company, account(NAMED, name="Aozora prod"), account(UNNAMED))

    assert assigned.json() == {"status": "success", "created": 2, "moved": 0}
    listed = service.http.get(ACCOUNTS, params={"vendor": "aws"}, headers=service.root()).json()
    assert [(each["customer_id"], each["customer_name"]) for each in listed] == [
        (NAMED, "Aozora prod"),
        (UNNAMED, UNNAMED),
    ]
    assert list_unassigned(service) == []
    service.http.delete(f"{ACCOUNTS}/aws/{UNNAMED}|{PAYER}", headers=service.root())
    (left,) = list_unassigned(service)
    assert left["customer_id"] == UNNAMED
    assert left["suggestion"]["reason"] == "former_group"


def test_registered_accounts_move_and_need_no_payer(service: Service, company: str) -> None:
    other = add_group(service, "BG-2", "Minato")
    assign(service, other, account(NAMED))

    moved = assign(service, company, {"vendor": "aws", "customer_id": NAMED}, account(UNNAMED))

    assert moved.json() == {"status": "success", "created": 1, "moved": 1}
    listed = service.http.get(ACCOUNTS, params={"vendor": "aws"}, headers=service.root()).json()
    assert {each["company_id"] for each in listed} == {company}


def test_one_wrong_account_refuses_all_and_every_error_names_its_account(
    service: Service, company: str
) -> None:
    without_payer = {"vendor": "aws", "customer_id": "444444444444"}

    answer = assign(service, company, account(NAMED), account(NAMED), without_payer)
    malformed = assign(service, company, account("12"), account(UNNAMED))
    unknown = assign(service, "cmp_unknown", account(NAMED))

    assert [violation["field"] for violation in read_problem(answer, 400)["violations"]] == [
        "accounts[1].customer_id",
        "accounts[2].account_id",
    ]
    (violation,) = read_problem(malformed, 400)["violations"]
    assert violation["field"] == "accounts[0].customer_id"
    assert read_problem(unknown, 400)["violations"][0]["field"] == "company_id"
    listed = service.http.get(ACCOUNTS, params={"vendor": "aws"}, headers=service.root())
    assert listed.json() == []


def test_a_restricted_caller_cannot_take_an_account_with_costs(
    service: Service, company: str
) -> None:
    headers = service.caller(RoleAction.ModifyAccount, billing_groups=[company])

    refused = assign(service, company, account(NAMED), headers=headers)
    accepted = assign(service, company, account("444444444444"), headers=headers)

    (violation,) = read_problem(refused, 400)["violations"]
    assert violation["field"] == "accounts[0].customer_id"
    assert accepted.json()["created"] == 1
