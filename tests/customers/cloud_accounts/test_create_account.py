"""POST /m/core/accts"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import AWS, AZURE, accounts, add_account, create
from tests.people import all_at_once
from tests.running_service import Service

SOUND = {"aws": AWS, "azure": AZURE}
WORDS = {
    ("aws", "customer_id"): "12 digits",
    ("aws", "account_id"): "12 digits",
    ("azure", "customer_id"): "16 to 36 characters, none a slash",
    ("azure", "account_id"): "7 digits",
}
TAKEN = {
    ("aws", "customer_id"): ["000000000000", "999999999999", "000000000001"],
    ("aws", "account_id"): ["000000000000", "999999999999"],
    ("azure", "customer_id"): [
        "0123456789abcdef",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "a" * 36,
        "購読" * 8,
        "🌸" * 36,
        "a|b c?d#e%2Ff;g\\",
    ],
    ("azure", "account_id"): ["0000000", "9999999"],
}
NOT_TWELVE = [
    "",
    "12345678901",
    "1234567890123",
    "12345678901a",
    "1234-5678-901",
    "１２３４５６７８９０１２",
]
REFUSED = {
    ("aws", "customer_id"): [*NOT_TWELVE, " 12345678901", "123456789012\n", "+12345678901"],
    ("aws", "account_id"): [*NOT_TWELVE, "0000042"],
    ("azure", "customer_id"): ["", "a" * 15, "a" * 37, "🌸" * 37, "0123456789/abcdef"],
    ("azure", "account_id"): [
        "",
        "123456",
        "12345678",
        "123456a",
        "１２３４５６７",
        "012345678901",
    ],
}


@pytest.fixture
def company_id(service: Service) -> str:
    return create_group(service, service.root(), billinggroup_id="BG")


@pytest.mark.parametrize("vendor", SOUND)
def test_an_account_is_added_to_its_group(service: Service, company_id: str, vendor: str) -> None:
    body = SOUND[vendor] | {"company_id": company_id, "note": "メモ"}

    answer = create(service, body, service.caller(RoleAction.ModifyAccount))

    assert answer.status_code == 200
    assert answer.json() == {"status": "success"}
    (listed,) = accounts(service, vendor)
    assert listed["customer_id"] == body["customer_id"]
    assert listed["customer_name"] == body["name"]
    assert listed["account_id"] == body["account_id"]
    assert listed["company_id"] == company_id
    assert listed["note"] == "メモ"


@pytest.mark.parametrize(("vendor", "field"), TAKEN)
def test_an_id_is_taken_as_its_vendor_writes_it(
    service: Service, company_id: str, vendor: str, field: str
) -> None:
    for number, value in enumerate(TAKEN[vendor, field]):
        free = f"{number:012d}" if vendor == "aws" else f"{number:016d}"
        body = SOUND[vendor] | {"company_id": company_id, "customer_id": free, field: value}
        assert create(service, body).status_code == 200, value
        assert value in [account[field] for account in accounts(service, vendor)]


@pytest.mark.parametrize(("vendor", "field"), REFUSED)
def test_an_id_that_its_vendor_does_not_write_is_refused(
    service: Service, company_id: str, vendor: str, field: str
) -> None:
    for value in REFUSED[vendor, field]:
        answer = create(service, SOUND[vendor] | {"company_id": company_id, field: value})
        assert violations_of(answer) == [(field, WORDS[vendor, field])], value
    assert accounts(service, vendor) == []


def test_leading_zeros_make_a_difference(service: Service, company_id: str) -> None:
    for customer_id in ("0123456789abcdef", "00123456789abcdef", "000123456789abcdef"):
        add_account(service, company_id, **AZURE | {"customer_id": customer_id})

    assert len(accounts(service, "azure")) == 3


def test_a_number_is_not_a_text(service: Service, company_id: str) -> None:
    answer = create(service, AWS | {"company_id": company_id, "customer_id": 123456789012})

    assert violations_of(answer) == [("customer_id", "a text")]


@pytest.mark.parametrize("field", ["vendor", "customer_id", "account_id", "company_id", "name"])
def test_a_required_field_is_required(service: Service, company_id: str, field: str) -> None:
    whole = AWS | {"company_id": company_id}
    without = {name: value for name, value in whole.items() if name != field}

    for body in (without, without | {field: None}):
        assert violations_of(create(service, body)) == [(field, "required")]


def test_a_name_is_taken_at_both_edges_of_its_length(service: Service, company_id: str) -> None:
    for number, name in enumerate(("abc", "長" * 3, "🌸" * 100)):
        add_account(service, company_id, customer_id=f"{number:012d}", name=name)
        assert accounts(service, "aws")[-1]["customer_name"] == name
    for name in ("", "ab", "長" * 101):
        answer = create(service, AWS | {"company_id": company_id, "name": name})
        assert violations_of(answer) == [("name", "length 3 to 100")]


@pytest.mark.parametrize(("sent", "stored"), [(None, None), ("", ""), ("長" * 5000, "長" * 5000)])
def test_a_note_is_kept_as_sent(
    service: Service, company_id: str, sent: str | None, stored: str | None
) -> None:
    add_account(service, company_id, note=sent)

    assert accounts(service, "aws")[0]["note"] == stored


@pytest.mark.parametrize("vendor", ["gcp", "AWS", "", 7])
def test_another_vendor_is_refused(service: Service, company_id: str, vendor: Any) -> None:
    answer = create(service, AWS | {"company_id": company_id, "vendor": vendor})

    assert violations_of(answer) == [("vendor", "one of aws, azure")]


def test_every_broken_rule_is_named_at_once(service: Service) -> None:
    wrong = {"customer_id": "1", "account_id": "2", "name": "x", "note": 7}

    answer = create(service, AWS | {"company_id": "cmp_never_was"} | wrong)

    assert [field for field, _ in violations_of(answer)] == [
        *("name", "note", "customer_id", "account_id")
    ]


# ── whose, and unique ────────────────────────────────────────────────────────────────────────────


def test_an_unknown_foreign_or_hidden_group_is_refused_alike(
    service: Service, company_id: str
) -> None:
    other = service.new_organisation()
    foreign = create_group(service, service.root(other), billinggroup_id="theirs")
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    narrowed = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    for named in ("", "BG", "cmp_never_was", foreign, hidden):
        answer = create(service, AWS | {"company_id": named}, narrowed)
        assert violations_of(answer) == [("company_id", "an existing billing group")]
    assert create(service, AWS | {"company_id": company_id}, narrowed).status_code == 200


def test_a_customer_id_in_use_is_refused_whatever_the_vendor(
    service: Service, company_id: str
) -> None:
    shared = "0123456789abcdef"
    add_account(service, company_id, **AZURE | {"customer_id": shared})
    add_account(service, company_id)

    for body in (AWS, AZURE | {"customer_id": shared}):
        answer = create(service, body | {"company_id": company_id, "name": "another"})
        assert problem_of(answer, 409)["code"] == "customer_id_taken"


def test_a_customer_id_of_a_hidden_group_is_in_use_all_the_same(
    service: Service, company_id: str
) -> None:
    hidden = create_group(service, service.root(), billinggroup_id="hidden")
    add_account(service, hidden)
    narrowed = service.caller(RoleAction.ModifyAccount, billing_groups=[company_id])

    answer = create(service, AWS | {"company_id": company_id}, narrowed)

    assert problem_of(answer, 409)["code"] == "customer_id_taken"


def test_another_organisation_may_have_the_same_customer(service: Service, company_id: str) -> None:
    other = service.root(service.new_organisation())
    theirs = create_group(service, other, billinggroup_id="BG")
    add_account(service, company_id)

    assert create(service, AWS | {"company_id": theirs}, other).status_code == 200
    assert len(accounts(service, "aws", other)) == 1


def test_of_many_that_create_the_same_customer_at_once_one_succeeds(
    service: Service, company_id: str
) -> None:
    body = AWS | {"company_id": company_id}
    headers = service.root()

    answers = all_at_once([lambda: create(service, body, headers)] * 8)

    codes = Counter((answer.status_code, answer.json().get("code")) for answer in answers)
    assert codes == {(200, None): 1, (409, "customer_id_taken"): 7}
    assert len(accounts(service, "aws")) == 1
