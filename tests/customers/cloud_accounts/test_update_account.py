"""PUT /m/core/accts/{customer_id}/edit"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import Answer, problem_of, violations_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import AWS, AZURE, PATH, accounts, add_account
from tests.running_service import Service


@pytest.fixture
def company_id(service: Service) -> str:
    company_id = create_group(service, service.root(), billinggroup_id="BG")
    add_account(service, company_id, note="メモ")
    return company_id


def update(
    service: Service, company_id: str, headers: Any = None, customer_id: Any = None, **fields: Any
) -> Answer:
    sound = {name: AWS[name] for name in ("vendor", "account_id", "name")}
    path = f"{PATH}/{quote(customer_id or AWS['customer_id'], safe='')}/edit"
    body = sound | {"company_id": company_id} | fields
    return service.http.put(path, json=body, headers=headers or service.root())


def test_everything_but_vendor_and_customer_can_be_changed(
    service: Service, company_id: str
) -> None:
    another = create_group(service, service.root(), billinggroup_id="another")
    changed = {"account_id": "000000000077", "name": "新しい名", "note": "別のメモ"}

    answer = update(service, another, service.caller(RoleAction.ModifyAccount), **changed)

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    (listed,) = accounts(service, "aws")
    assert listed["customer_id"] == AWS["customer_id"]
    assert listed["company_id"] == another
    assert listed["billinggroup_id"] == "another"
    assert (listed["account_id"], listed["customer_name"]) == ("000000000077", "新しい名")
    assert listed["note"] == "別のメモ"


@pytest.mark.parametrize(
    ("sent", "stored"), [({}, "メモ"), ({"note": None}, "メモ"), ({"note": ""}, None)]
)
def test_a_note_stays_unless_it_is_sent_and_an_empty_one_clears_it(
    service: Service, company_id: str, sent: dict[str, Any], stored: str | None
) -> None:
    assert update(service, company_id, **sent).status_code == 200

    assert accounts(service, "aws")[0]["note"] == stored


@pytest.mark.parametrize("field", ["vendor", "account_id", "company_id", "name"])
def test_a_required_field_is_required(service: Service, company_id: str, field: str) -> None:
    sound = {name: AWS[name] for name in ("vendor", "account_id", "name")}
    body = sound | {"company_id": company_id}
    path = f"{PATH}/{AWS['customer_id']}/edit"

    del body[field]
    for sent in (body, body | {field: None}):
        answer = service.http.put(path, json=sent, headers=service.root())
        assert violations_of(answer) == [(field, "required")]


def test_the_rules_are_those_of_a_new_account(service: Service, company_id: str) -> None:
    before = accounts(service, "aws")

    for account_id in ("", "12345678901", "1234567890123", "１２３４５６７８９０１２", "0000042"):
        answer = update(service, company_id, account_id=account_id)
        assert violations_of(answer) == [("account_id", "12 digits")]
    for name in ("ab", "長" * 101):
        assert violations_of(update(service, company_id, name=name)) == [
            ("name", "length 3 to 100")
        ]
    answer = update(service, company_id, vendor="gcp")
    assert violations_of(answer) == [("vendor", "one of aws, azure")]
    assert accounts(service, "aws") == before
    for name in ("abc", "長" * 100):
        assert update(service, company_id, name=name).status_code == 200


def test_the_vendor_cannot_change(service: Service, company_id: str) -> None:
    before = accounts(service, "aws")

    answer = update(service, company_id, vendor="azure", account_id="0000042", name="changed")

    assert problem_of(answer, 409)["code"] == "vendor_fixed"
    assert accounts(service, "aws") == before


def test_the_customer_id_of_the_body_is_not_looked_at(service: Service, company_id: str) -> None:
    path = f"{PATH}/{AWS['customer_id']}/edit"
    body = AWS | {"company_id": company_id, "customer_id": "000000000099"}

    assert service.http.put(path, json=body, headers=service.root()).status_code == 200
    assert [one["customer_id"] for one in accounts(service, "aws")] == [AWS["customer_id"]]


def test_an_account_of_azure_is_found_by_its_odd_id(service: Service, company_id: str) -> None:
    customer_id = "a|b c?d#e;g\\h&i=é🌸"
    add_account(service, company_id, **AZURE | {"customer_id": customer_id})
    azure = {"vendor": "azure", "account_id": "0000043"}

    answer = update(service, company_id, customer_id=customer_id, **azure)

    assert answer.status_code == 200
    assert accounts(service, "azure")[0]["account_id"] == "0000043"


def test_an_unknown_foreign_or_hidden_group_is_refused_alike(
    service: Service, company_id: str
) -> None:
    other = service.new_organisation()
    foreign = create_group(service, service.root(other), billinggroup_id="theirs")
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    narrowed = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    for named in ("", "BG", "cmp_never_was", foreign, hidden):
        answer = update(service, named, narrowed)
        assert violations_of(answer) == [("company_id", "an existing billing group")]


def test_unknown_foreign_and_hidden_accounts_are_not_there(
    service: Service, company_id: str
) -> None:
    other = service.root(service.new_organisation())
    theirs = create_group(service, other, billinggroup_id="theirs")
    foreign = AWS | {"company_id": theirs, "customer_id": "000000000003"}
    service.http.post(PATH, json=foreign, headers=other)
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    add_account(service, hidden, customer_id="000000000002", name="hidden")
    narrowed = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    for customer_id in ("000000000001", "000000000002", "000000000003", "x"):
        for group in (company_id, hidden, "cmp_never_was"):
            answer = update(service, group, narrowed, customer_id=customer_id, name="changed")
            assert problem_of(answer, 404)["code"] == "not_found"
        answer = update(
            service, company_id, narrowed, customer_id, vendor="azure", account_id="0000042"
        )
        problem_of(answer, 404)
    names = [account["customer_name"] for account in accounts(service, "aws")]
    assert names == ["hidden", AWS["name"]]
