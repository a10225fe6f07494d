"""POST /m/core/billinggroup"""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED
from nimbill.foundation.rules import Between, OneOf
from tests.answers import problem_of, violations_of
from tests.customers.billing_groups.bodies import REQUIRED_FIELDS, SOUND_SETTING
from tests.running_service import Service

PATH = "/m/core/billinggroup"

OPTIONAL_TEXTS = {
    "phone": "03‐1234‐5678",  # U+2010 hyphens, as address books write them
    "postal": "100-0001",
    "address": "東京都千代田区千代田1番1号 ２階",
    "billing_title": "クラウド利用料\nご請求書",
    "personal": "髙橋 一郎 様",
    "remarks": '改行\tタブ "引用" \\ 🌸 مرحبا',
}
# where a text of the create body stands in the record
IN_RECORD = {"personal": "contact", "billing_title": "title"}


@pytest.fixture
def manager(service: Service) -> dict[str, str]:
    return service.caller(RoleAction.ModifyBillingGroup)


def read_back(service: Service, headers: dict[str, str], company_id: str) -> Any:
    answer = service.http.get(f"{PATH}/{company_id}/resource", headers=headers)
    assert answer.status_code == 200
    return answer


def test_required_fields_are_enough(service: Service, manager: dict[str, str]) -> None:
    answer = service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"status", "company_id", "billinggroup_id"}
    assert answer.json()["status"] == "success"
    assert answer.json()["billinggroup_id"] == "BG-0001"


def test_optional_fields_that_were_not_sent_are_null(
    service: Service, manager: dict[str, str]
) -> None:
    company_id = service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager).json()["company_id"]

    record = read_back(service, manager, company_id).json()

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
        "additional_items": {},
        "custom_fields": {},
        "account": [],
        "tag": [],
    }


@pytest.mark.parametrize("field", REQUIRED_FIELDS)
def test_a_required_field_is_required(
    service: Service, manager: dict[str, str], field: str
) -> None:
    without = {key: value for key, value in REQUIRED_FIELDS.items() if key != field}

    absent = service.http.post(PATH, json=without, headers=manager)
    null = service.http.post(PATH, json=without | {field: None}, headers=manager)

    assert violations_of(absent) == violations_of(null) == [(field, "required")]


@pytest.mark.parametrize("field", ["billinggroup_id", "billinggroup_name", "company_name"])
def test_required_text_is_not_empty(service: Service, manager: dict[str, str], field: str) -> None:
    answer = service.http.post(PATH, json=REQUIRED_FIELDS | {field: ""}, headers=manager)

    assert violations_of(answer) == [(field, "a text that is not empty")]


@pytest.mark.parametrize("field", OPTIONAL_TEXTS)
def test_an_optional_text_is_kept_as_sent(
    service: Service, manager: dict[str, str], field: str
) -> None:
    for number, text in enumerate([OPTIONAL_TEXTS[field], "", " ", "長" * 5000]):
        body = REQUIRED_FIELDS | {"billinggroup_id": f"BG-{number}", field: text}
        company_id = service.http.post(PATH, json=body, headers=manager).json()["company_id"]

        record = read_back(service, manager, company_id).json()

        assert record[IN_RECORD.get(field, field)] == text


@pytest.mark.parametrize(
    "field", [*OPTIONAL_TEXTS, "project_id", "invoice_template_id", "invoices", "language"]
)
def test_null_for_an_optional_field_means_absent(
    service: Service, manager: dict[str, str], field: str
) -> None:
    answer = service.http.post(PATH, json=REQUIRED_FIELDS | {field: None}, headers=manager)

    assert answer.status_code == 200
    record = read_back(service, manager, answer.json()["company_id"]).json()
    assert not record[IN_RECORD.get(field, field)]


@pytest.mark.parametrize("sent", [True, False])
def test_inv_aggregate_is_kept(service: Service, manager: dict[str, str], *, sent: bool) -> None:
    body = REQUIRED_FIELDS | {"inv_aggregate": sent}
    company_id = service.http.post(PATH, json=body, headers=manager).json()["company_id"]

    assert read_back(service, manager, company_id).json()["inv_aggregate"] is sent


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_languages_are_kept(service: Service, manager: dict[str, str], language: str) -> None:
    body = REQUIRED_FIELDS | {"language": language}
    company_id = service.http.post(PATH, json=body, headers=manager).json()["company_id"]

    assert read_back(service, manager, company_id).json()["language"] == language


@pytest.mark.parametrize("language", ["fr", "JA", "", "ja "])
def test_other_languages_are_refused(
    service: Service, manager: dict[str, str], language: str
) -> None:
    answer = service.http.post(PATH, json=REQUIRED_FIELDS | {"language": language}, headers=manager)

    assert violations_of(answer) == [("language", "one of ja, en")]


def test_unknown_fields_are_ignored(service: Service, manager: dict[str, str]) -> None:
    stranger = {"company_id": "cmp_mine", "organisation_id": "org_other", "custom_fields": {"a": 1}}
    setting = SOUND_SETTING | {"unknown": {"deep": [1]}}
    body = REQUIRED_FIELDS | stranger | {"invoices": {"aws": setting}, "account": [{"a": 1}]}

    answer = service.http.post(PATH, json=body, headers=manager)

    assert answer.status_code == 200
    assert answer.json()["company_id"] != "cmp_mine"
    record = read_back(service, manager, answer.json()["company_id"]).json()
    assert (record["custom_fields"], record["account"]) == ({}, [])
    assert set(record["invoices"]["aws"]) == set(SOUND_SETTING)


def test_settings_of_each_vendor_are_kept_apart(service: Service, manager: dict[str, str]) -> None:
    aws, azure = SOUND_SETTING, SOUND_SETTING | {"currency": "usd", "support_fee": "fix"}
    body = REQUIRED_FIELDS | {"invoices": {"azure": azure, "aws": aws}}
    company_id = service.http.post(PATH, json=body, headers=manager).json()["company_id"]

    record = read_back(service, manager, company_id).json()

    assert record["invoices"] == {"aws": aws, "azure": azure}


@pytest.mark.parametrize("vendor", ["gcp", "AWS", "", "all"])
def test_a_setting_for_another_vendor_is_refused(
    service: Service, manager: dict[str, str], vendor: str
) -> None:
    body = REQUIRED_FIELDS | {"invoices": {vendor: SOUND_SETTING}}

    answer = service.http.post(PATH, json=body, headers=manager)

    assert violations_of(answer) == [("invoices", "keys: one of aws, azure")]


@pytest.mark.parametrize("field", SOUND_SETTING)
def test_every_field_of_a_setting_is_required(
    service: Service, manager: dict[str, str], field: str
) -> None:
    setting = {key: value for key, value in SOUND_SETTING.items() if key != field}
    body = REQUIRED_FIELDS | {"invoices": {"azure": setting}}

    answer = service.http.post(PATH, json=body, headers=manager)

    assert violations_of(answer) == [(f"invoices.azure.{field}", "required")]


@pytest.mark.parametrize("field", ALLOWED)
def test_what_the_create_column_allows_is_stored_and_read_back(
    service: Service, manager: dict[str, str], field: str
) -> None:
    rule = ALLOWED[field].create
    values = rule.words if isinstance(rule, OneOf) else ("0", "0.0000", "0.0755")
    high = [str(rule.high)] if isinstance(rule, Between) else []
    for number, value in enumerate([*values, *high]):
        written = value if isinstance(rule, Between) else json.dumps(value)
        rest = {key: sound for key, sound in SOUND_SETTING.items() if key != field}
        setting = json.dumps(rest)[:-1] + f', "{field}": {written}}}'
        body = REQUIRED_FIELDS | {"billinggroup_id": f"BG-{number}"}
        raw = json.dumps(body)[:-1] + f', "invoices": {{"aws": {setting}}}}}'

        answer = service.http.post(
            PATH, content=raw, headers=manager | {"Content-Type": "application/json"}
        )

        assert answer.status_code == 200, (value, answer.text)
        stored = read_back(service, manager, answer.json()["company_id"]).text
        assert f'"{field}":{written},' in stored or f'"{field}":{written}}}' in stored


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0.10", "0.10"),
        ("0.0755", "0.0755"),
        ("0.050000000000000000000000000001"[:31], "0.05000000000000000000000000000"),
        ("0.1234567890123456789", "0.1234567890123456789"),
        ("1", "1"),
        ("1.000", "1.000"),
        ("5e-2", "0.05"),
    ],
)
def test_a_decimal_is_kept_digit_for_digit(
    service: Service, manager: dict[str, str], written: str, read: str
) -> None:
    setting = json.dumps(SOUND_SETTING | {"discount_rate": "?"}).replace('"?"', written)
    raw = json.dumps(REQUIRED_FIELDS)[:-1] + f', "invoices": {{"aws": {setting}}}}}'
    json_body = manager | {"Content-Type": "application/json"}

    company_id = service.http.post(PATH, content=raw, headers=json_body).json()["company_id"]

    assert f'"discount_rate":{read},' in read_back(service, manager, company_id).text
    assert f'"discount_rate":{read},' in service.http.get(PATH, headers=manager).text


def test_every_broken_rule_is_named_at_once(service: Service, manager: dict[str, str]) -> None:
    setting = SOUND_SETTING | {"currency": "eur", "tax_rate": 0.11}

    answer = service.http.post(
        PATH, json=REQUIRED_FIELDS | {"invoices": {"aws": setting}}, headers=manager
    )

    assert violations_of(answer) == [
        ("invoices.aws.currency", "one of jpy, usd"),
        ("invoices.aws.tax_rate", "from 0 to 0.10"),
    ]


def test_an_id_in_use_is_refused(service: Service, manager: dict[str, str]) -> None:
    service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    answer = service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager)

    assert problem_of(answer, 409)["code"] == "billinggroup_id_taken"
    assert len(service.http.get(PATH, headers=manager).json()) == 1


def test_ids_are_compared_as_written(service: Service, manager: dict[str, str]) -> None:
    long = "長い" * 10_000
    for billinggroup_id in ("BG", "bg", "BG ", "ＢＧ", long, long + "い", "\u00e9", "e\u0301"):
        body = REQUIRED_FIELDS | {"billinggroup_id": billinggroup_id}
        assert service.http.post(PATH, json=body, headers=manager).status_code == 200

    again = service.http.post(
        PATH, json=REQUIRED_FIELDS | {"billinggroup_id": long}, headers=manager
    )
    assert problem_of(again, 409)["code"] == "billinggroup_id_taken"


def test_another_organisation_may_use_the_same_id(
    service: Service, manager: dict[str, str]
) -> None:
    other = service.root(service.new_organisation())

    assert service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager).status_code == 200
    assert service.http.post(PATH, json=REQUIRED_FIELDS, headers=other).status_code == 200


def test_a_refused_group_leaves_its_id_free(service: Service, manager: dict[str, str]) -> None:
    unsound = {"invoices": {"aws": SOUND_SETTING | {"currency": "eur"}}}
    service.http.post(PATH, json=REQUIRED_FIELDS | unsound, headers=manager)

    assert service.http.post(PATH, json=REQUIRED_FIELDS, headers=manager).status_code == 200
