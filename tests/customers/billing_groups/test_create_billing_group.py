"""POST /m/core/billinggroup: the fields of a new billing group and its id."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups.bodies import PRINTED_TEXTS
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.rules import OneOf
from tests.customers.billing_groups.billing_groups import PATH, create_billing_group
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service

OPTIONAL_TEXTS = {
    "phone": "03‐1234‐5678",  # U+2010 hyphens, as address books write them
    "postal": "100-0001",
    "address": "東京都千代田区千代田1番1号 ２階",
    "billing_title": "クラウド利用料\nご請求書",
    "personal": "髙橋 一郎 様",
    "remarks": '改行\tタブ "引用" \\ 🌸 مرحبا',
}
# fields of the create body that have another name in the record
RECORD_NAMES = {"personal": "contact", "billing_title": "title"}


@pytest.fixture
def manager(service: Service) -> dict[str, str]:
    return service.caller(RoleAction.ModifyBillingGroup)


def read(service: Service, headers: dict[str, str], company_id: str) -> Any:
    response = service.http.get(f"{PATH}/{company_id}/resource", headers=headers)
    assert response.status_code == 200
    return response


def post_text(service: Service, headers: dict[str, str], text: str) -> Any:
    """Send JSON as text, so that decimals keep their digits."""
    return service.http.post(
        PATH, content=text, headers=headers | {"Content-Type": "application/json"}
    )


def test_a_group_is_created_from_the_required_fields(
    service: Service, manager: dict[str, str]
) -> None:
    response = service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert set(response.json()) == {"status", "company_id", "billinggroup_id"}
    assert response.json()["status"] == "success"
    assert response.json()["billinggroup_id"] == "BG-0001"


@pytest.mark.parametrize("value", ["absent", None])
def test_optional_fields_that_are_absent_or_null_are_null_in_the_record(
    service: Service, manager: dict[str, str], value: object
) -> None:
    optional = [*OPTIONAL_TEXTS, "project_id", "invoice_template_id", "invoices", "language"]
    nulls = {} if value == "absent" else dict.fromkeys(optional)
    response = service.http.post(PATH, json=REQUIRED_FIELDS | nulls, headers=manager)
    company_id = response.json()["company_id"]

    record = read(service, manager, company_id).json()

    assert record == {
        "company_id": company_id,
        "billinggroup_id": "BG-0001",
        "billinggroup_name": "さくら商事",
        "name": "株式会社さくら商事",
        "inv_aggregate": True,
        **dict.fromkeys(("contact", "title", "address", "postal", "phone", "remarks")),
        **dict.fromkeys(("language", "project_id", "project_code", "project_label")),
        **dict.fromkeys(("project_currency", "invoice_template_id")),
        "invoices": {},
        "support_fee_targets": {},
        "additional_items": {},
        "custom_fields": {},
        "account": [],
        "tag": [],
    }


def test_optional_texts_are_stored_unchanged(service: Service, manager: dict[str, str]) -> None:
    variants = [OPTIONAL_TEXTS, *(dict.fromkeys(OPTIONAL_TEXTS, t) for t in ("", " ", "長" * 5000))]

    for number, texts in enumerate(variants):
        company_id = create_billing_group(service, manager, billinggroup_id=f"BG-{number}", **texts)

        record = read(service, manager, company_id).json()

        assert {name: record[RECORD_NAMES.get(name, name)] for name in texts} == texts


def test_languages_and_inv_aggregate_are_stored(service: Service, manager: dict[str, str]) -> None:
    for language, inv_aggregate in (("ja", True), ("en", False)):
        fields = {"language": language, "inv_aggregate": inv_aggregate}
        company_id = create_billing_group(service, manager, billinggroup_id=language, **fields)

        record = read(service, manager, company_id).json()

        assert {name: record[name] for name in fields} == fields


def test_unknown_fields_are_ignored(service: Service, manager: dict[str, str]) -> None:
    unknown = {"company_id": "cmp_mine", "organisation_id": "org_other", "custom_fields": {"a": 1}}
    setting = VALID_SETTING | {"unknown": {"deep": [1]}}
    body = REQUIRED_FIELDS | unknown | {"invoices": {"aws": setting}, "account": [{"a": 1}]}

    response = service.http.post(PATH, json=body, headers=manager)

    assert response.status_code == 200
    assert response.json()["company_id"] != "cmp_mine"
    record = read(service, manager, response.json()["company_id"]).json()
    assert (record["custom_fields"], record["account"]) == ({}, [])
    assert set(record["invoices"]["aws"]) == set(VALID_SETTING)


def test_each_vendor_has_its_own_setting(service: Service, manager: dict[str, str]) -> None:
    aws, azure = VALID_SETTING, VALID_SETTING | {"currency": "usd", "support_fee": "fix"}
    company_id = create_billing_group(
        service, manager, billinggroup_id="BG", invoices={"azure": azure, "aws": aws}
    )

    record = read(service, manager, company_id).json()

    assert record["invoices"] == {"aws": aws, "azure": azure}


def test_every_allowed_value_of_a_setting_is_stored(
    service: Service, manager: dict[str, str]
) -> None:
    """Each group takes the next allowed value of every field, until all values have been used."""
    allowed: dict[str, list[str]] = {}
    for field, row in ALLOWED_VALUES.items():
        rule = row.create
        if isinstance(rule, OneOf):
            allowed[field] = [json.dumps(word) for word in rule.values]
        else:
            allowed[field] = ["0", "0.0000", "0.0755", str(rule.high)]  # type: ignore[union-attr]

    for number in range(max(map(len, allowed.values()))):
        values = {field: texts[number % len(texts)] for field, texts in allowed.items()}
        setting = ",".join(f'"{field}":{text}' for field, text in values.items())
        body = json.dumps(REQUIRED_FIELDS | {"billinggroup_id": f"BG-{number}"})

        response = post_text(
            service, manager, body[:-1] + f', "invoices": {{"aws": {{{setting}}}}}}}'
        )

        assert response.status_code == 200, response.text
        stored = read(service, manager, response.json()["company_id"]).text
        assert f'"aws":{{{setting}}}' in stored


def test_decimals_keep_their_digits(service: Service, manager: dict[str, str]) -> None:
    sent_and_stored = [
        ("0.10", "0.10"),
        ("0.0755", "0.0755"),
        ("0.050000000000000000000000000001"[:31], "0.05000000000000000000000000000"),
        ("0.1234567890123456789", "0.1234567890123456789"),
        ("1", "1"),
        ("1.000", "1.000"),
        ("5e-2", "0.05"),
    ]

    for number, (sent, stored) in enumerate(sent_and_stored):
        setting = json.dumps(VALID_SETTING | {"discount_rate": "?"}).replace('"?"', sent)
        body = json.dumps(REQUIRED_FIELDS | {"billinggroup_id": f"BG-{number}"})
        response = post_text(service, manager, body[:-1] + f', "invoices": {{"aws": {setting}}}}}')

        record = read(service, manager, response.json()["company_id"]).text

        assert f'"discount_rate":{stored},' in record
        assert f'"discount_rate":{stored},' in service.http.get(PATH, headers=manager).text


def test_all_violations_are_reported_at_once(service: Service, manager: dict[str, str]) -> None:
    setting = VALID_SETTING | {"currency": "eur", "tax_rate": 0.11}
    body = REQUIRED_FIELDS | {"company_name": "", "invoices": {"aws": setting}}

    response = service.http.post(PATH, json=body, headers=manager)

    assert read_violations(response) == [
        ("company_name", "a text that is not empty"),
        ("invoices.aws.currency", "one of jpy, usd"),
        ("invoices.aws.tax_rate", "from 0 to 0.10"),
    ]


@pytest.mark.parametrize("field", PRINTED_TEXTS)
def test_printed_texts_have_a_maximum_length(
    service: Service, manager: dict[str, str], field: str
) -> None:
    longest = REQUIRED_FIELDS | {field: "長" * 10_000}

    refused = service.http.post(
        PATH, json=REQUIRED_FIELDS | {field: "長" * 10_001}, headers=manager
    )

    assert read_violations(refused) == [(field, "length up to 10000")]
    assert service.http.post(PATH, json=longest, headers=manager).status_code == 200


def test_a_duplicate_id_is_refused(service: Service, manager: dict[str, str]) -> None:
    service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    response = service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    assert read_problem(response, 409)["code"] == "billinggroup_id_taken"
    assert len(service.http.get(PATH, headers=manager).json()) == 1


def test_ids_are_compared_exactly(service: Service, manager: dict[str, str]) -> None:
    long = "長い" * 4_999
    for billinggroup_id in ("BG", "bg", "BG ", "ＢＧ", long, long + "い", "\u00e9", "e\u0301"):
        body = REQUIRED_FIELDS | {"billinggroup_id": billinggroup_id}
        assert service.http.post(PATH, json=body, headers=manager).status_code == 200

    duplicate = service.http.post(
        PATH, json=REQUIRED_FIELDS | {"billinggroup_id": long}, headers=manager
    )

    assert read_problem(duplicate, 409)["code"] == "billinggroup_id_taken"


def test_another_organisation_may_use_the_same_id(
    service: Service, manager: dict[str, str]
) -> None:
    other = service.root(service.new_organisation())

    assert service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager).status_code == 200
    assert service.http.post(PATH, json=REQUIRED_FIELDS, headers=other).status_code == 200


def test_a_refused_request_does_not_reserve_the_id(
    service: Service, manager: dict[str, str]
) -> None:
    invalid = {"invoices": {"aws": VALID_SETTING | {"currency": "eur"}}}
    service.http.post(PATH, json=REQUIRED_FIELDS | invalid, headers=manager)

    assert service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager).status_code == 200
