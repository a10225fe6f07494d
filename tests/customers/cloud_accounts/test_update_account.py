"""PUT /m/core/accts/{customer_id}/edit"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from nimbill.access.role_actions import RoleAction
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import AWS, AZURE, PATH, add_account, list_accounts
from tests.problem_responses import HttpResponse, read_problem, read_violations
from tests.running_service import Service


@pytest.fixture
def company_id(service: Service) -> str:
    """A group with the account AWS."""
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id, note="メモ")
    return company_id


def update(
    service: Service, company_id: str, headers: Any = None, customer_id: Any = None, **fields: Any
) -> HttpResponse:
    unchanged = {name: AWS[name] for name in ("vendor", "account_id", "name")}
    path = f"{PATH}/{quote(customer_id or AWS['customer_id'], safe='')}/edit"
    body = unchanged | {"company_id": company_id} | fields
    return service.http.put(path, json=body, headers=headers or service.root())


def test_everything_but_vendor_and_customer_id_can_be_changed(
    service: Service, company_id: str
) -> None:
    another = create_billing_group(service, service.root(), billinggroup_id="another")
    changes = {"account_id": "000000000077", "name": "新しい名", "note": "別のメモ"}

    response = update(service, another, service.caller(RoleAction.ModifyAccount), **changes)

    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    (account,) = list_accounts(service, "aws")
    assert account["customer_id"] == AWS["customer_id"]
    assert account["company_id"] == another
    assert account["billinggroup_id"] == "another"
    assert (account["account_id"], account["customer_name"]) == ("000000000077", "新しい名")
    assert account["note"] == "別のメモ"


def test_an_absent_note_is_kept_and_an_empty_note_clears_it(
    service: Service, company_id: str
) -> None:
    for fields, stored in (({}, "メモ"), ({"note": None}, "メモ"), ({"note": ""}, None)):
        assert update(service, company_id, **fields).status_code == 200

        assert list_accounts(service, "aws")[0]["note"] == stored


def test_names_of_3_and_of_100_characters_are_stored(service: Service, company_id: str) -> None:
    for name in ("abc", "長" * 100):
        assert update(service, company_id, name=name).status_code == 200

        assert list_accounts(service, "aws")[0]["customer_name"] == name


def test_all_violations_are_reported_at_once_and_nothing_changes(
    service: Service, company_id: str
) -> None:
    before = list_accounts(service, "aws")

    response = update(service, company_id, account_id="0000042", name="ab")

    assert read_violations(response) == [
        ("name", "length 3 to 100"),
        ("account_id", "12 digits"),
    ]
    assert list_accounts(service, "aws") == before


def test_the_vendor_cannot_be_changed(service: Service, company_id: str) -> None:
    before = list_accounts(service, "aws")

    response = update(service, company_id, vendor="azure", account_id="0000042", name="changed")

    assert read_problem(response, 409)["code"] == "vendor_fixed"
    assert list_accounts(service, "aws") == before


def test_a_customer_id_in_the_body_is_ignored(service: Service, company_id: str) -> None:
    path = f"{PATH}/{AWS['customer_id']}/edit"
    body = AWS | {"company_id": company_id, "customer_id": "000000000099"}

    assert service.http.put(path, json=body, headers=service.root()).status_code == 200

    (account,) = list_accounts(service, "aws")
    assert account["customer_id"] == AWS["customer_id"]


def test_an_azure_id_may_contain_special_characters(service: Service, company_id: str) -> None:
    customer_id = "a|b c?d#e;g\\h&i=é🌸"
    add_account(service, company_id, **AZURE | {"customer_id": customer_id})
    changes = {"vendor": "azure", "account_id": "0000043"}

    response = update(service, company_id, customer_id=customer_id, **changes)

    assert response.status_code == 200
    assert list_accounts(service, "azure")[0]["account_id"] == "0000043"


def test_unknown_foreign_and_hidden_groups_are_refused(service: Service, company_id: str) -> None:
    foreign_root = service.root(service.new_organisation())
    foreign = create_billing_group(service, foreign_root, billinggroup_id="foreign")
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    restricted = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    for invisible in ("", "BG", "cmp_unknown", foreign, hidden):
        response = update(service, invisible, restricted)
        assert read_violations(response) == [("company_id", "an existing billing group")]


def test_unknown_foreign_and_hidden_accounts_are_not_found(
    service: Service, company_id: str
) -> None:
    other = service.root(service.new_organisation())
    foreign_group = create_billing_group(service, other, billinggroup_id="foreign")
    foreign = AWS | {"company_id": foreign_group, "customer_id": "000000000003"}
    service.http.post(PATH, json=foreign, headers=other)
    hidden = create_billing_group(service, service.root(), billinggroup_id="hidden")
    add_account(service, hidden, customer_id="000000000002", name="hidden")
    restricted = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    for customer_id in ("000000000001", "000000000002", "000000000003", "x"):
        for group in (company_id, hidden, "cmp_unknown"):
            response = update(service, group, restricted, customer_id=customer_id, name="changed")
            assert read_problem(response, 404)["code"] == "not_found"
        response = update(
            service, company_id, restricted, customer_id, vendor="azure", account_id="0000042"
        )
        read_problem(response, 404)
    names = [account["customer_name"] for account in list_accounts(service, "aws")]
    assert names == ["hidden", AWS["name"]]
