"""Field rules of the bodies that create and change billing groups and their invoice settings."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.billing_groups.bodies import (
    BillingGroupCreate,
    BillingGroupUpdate,
    FreeFormatUpdate,
    InvoiceSettingUpdate,
)
from nimbill.http.request_bodies import Body
from tests.body_violations import find_body_violations
from tests.customers.billing_groups.sample_bodies import (
    FREE_FORMAT_ITEM,
    REQUIRED_FIELDS,
    VALID_SETTING,
    VALID_SETTING_UPDATE,
)

UPDATE_FIELDS = {name: REQUIRED_FIELDS[name] for name in REQUIRED_FIELDS if name != "inv_aggregate"}
UPDATE_LENGTHS = {
    "billinggroup_name": (1, 100),
    "company_name": (1, 100),
    "phone": (12, 16),
    "postal": (4, 10),
    "address": (1, 100),
    "billing_title": (1, 100),
    "personal": (1, 100),
    "remarks": (1, 100),
}
OPTIONAL_TEXTS = ["phone", "postal", "address", "billing_title", "personal", "remarks"]
# one code point each: a letter, three bytes, four bytes, a combining mark
CHARACTERS = ("a", "長", "🌸", "\u0301")

BODIES: list[tuple[type[Body], dict[str, Any]]] = [
    (BillingGroupCreate, REQUIRED_FIELDS),
    (BillingGroupUpdate, UPDATE_FIELDS),
]


def omit(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {field: value for field, value in fields.items() if field != name}


@pytest.mark.parametrize(("body_class", "required"), BODIES)
def test_required_fields_are_sufficient_and_none_may_be_absent_or_null(
    body_class: type[Body], required: dict[str, Any]
) -> None:
    assert find_body_violations(body_class, required) == []
    for field in required:
        absent, null = omit(required, field), required | {field: None}
        assert find_body_violations(body_class, absent) == [(field, "required")]
        assert find_body_violations(body_class, null) == [(field, "required")]


@pytest.mark.parametrize("field", ["billinggroup_id", "billinggroup_name", "company_name"])
def test_a_required_text_of_a_new_group_is_not_empty(field: str) -> None:
    violations = find_body_violations(BillingGroupCreate, REQUIRED_FIELDS | {field: ""})

    assert violations == [(field, "a text that is not empty")]


@pytest.mark.parametrize(("body_class", "required"), BODIES)
@pytest.mark.parametrize("language", ["fr", "JA", " ", "ja "])
def test_an_unknown_language_is_refused(
    body_class: type[Body], required: dict[str, Any], language: str
) -> None:
    violations = find_body_violations(body_class, required | {"language": language})

    is_update = body_class is BillingGroupUpdate
    assert violations == [
        ("language", "one of ja, en, empty text" if is_update else "one of ja, en")
    ]


def test_only_an_update_clears_the_language() -> None:
    created = find_body_violations(BillingGroupCreate, REQUIRED_FIELDS | {"language": ""})

    assert created == [("language", "one of ja, en")]
    assert find_body_violations(BillingGroupUpdate, UPDATE_FIELDS | {"language": ""}) == []


@pytest.mark.parametrize(("body_class", "required"), BODIES)
@pytest.mark.parametrize("value", ["true", 1, 0, "", []])
def test_inv_aggregate_is_true_or_false(
    body_class: type[Body], required: dict[str, Any], value: object
) -> None:
    violations = find_body_violations(body_class, required | {"inv_aggregate": value})

    assert violations == [("inv_aggregate", "true or false")]


@pytest.mark.parametrize("field", UPDATE_LENGTHS)
def test_the_lengths_of_an_update_are_counted_in_code_points(field: str) -> None:
    shortest, longest = UPDATE_LENGTHS[field]
    rule = f"length {shortest} to {longest}"

    for character in CHARACTERS:
        for length in (shortest, longest):
            body = UPDATE_FIELDS | {field: character * length}
            assert find_body_violations(BillingGroupUpdate, body) == []
        for length in {shortest - 1, longest + 1} - {0}:
            body = UPDATE_FIELDS | {field: character * length}
            assert find_body_violations(BillingGroupUpdate, body) == [(field, rule)]


@pytest.mark.parametrize("field", OPTIONAL_TEXTS)
def test_an_update_may_clear_an_optional_text(field: str) -> None:
    assert find_body_violations(BillingGroupUpdate, UPDATE_FIELDS | {field: ""}) == []


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        ("billinggroup_id", "a text that is not empty"),
        ("billinggroup_name", "length 1 to 100"),
        ("company_name", "length 1 to 100"),
    ],
)
def test_an_update_cannot_clear_other_fields(field: str, rule: str) -> None:
    violations = find_body_violations(BillingGroupUpdate, UPDATE_FIELDS | {field: ""})

    assert violations == [(field, rule)]


# ── invoice settings ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("vendor", ["gcp", "AWS", "", "all"])
def test_a_new_group_has_settings_of_billed_vendors_only(vendor: str) -> None:
    body = REQUIRED_FIELDS | {"invoices": {vendor: VALID_SETTING}}

    violations = find_body_violations(BillingGroupCreate, body)

    assert violations == [("invoices", "keys: one of aws, azure")]


@pytest.mark.parametrize("field", VALID_SETTING)
def test_every_field_of_a_setting_is_required(field: str) -> None:
    created, updated = VALID_SETTING, VALID_SETTING_UPDATE
    for absent, new in (
        (omit(created, field), omit(updated, field)),
        (created | {field: None}, updated | {field: None}),
    ):
        create = REQUIRED_FIELDS | {"invoices": {"azure": absent}}
        update = {"vendor": "aws", "invoices": new}

        assert find_body_violations(BillingGroupCreate, create) == [
            (f"invoices.azure.{field}", "required")
        ]
        assert find_body_violations(InvoiceSettingUpdate, update) == [
            (f"invoices.{field}", "required")
        ]


@pytest.mark.parametrize(
    ("body", "violations"),
    [
        ({}, [("vendor", "required"), ("invoices", "required")]),
        ({"vendor": "aws", "invoices": []}, [("invoices", "an object")]),
        ({"vendor": "gcp", "invoices": VALID_SETTING_UPDATE}, [("vendor", "one of aws, azure")]),
        ({"vendor": None, "invoices": VALID_SETTING_UPDATE}, [("vendor", "required")]),
        (VALID_SETTING_UPDATE | {"vendor": "aws"}, [("invoices", "required")]),
    ],
)
def test_a_setting_update_names_the_vendor_and_nests_the_setting(
    body: dict[str, Any], violations: list[tuple[str, str]]
) -> None:
    assert find_body_violations(InvoiceSettingUpdate, body) == violations


# ── free format items ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("label", ["a", "長" * 60, "🌸" * 60])
def test_a_label_of_1_to_60_characters_is_accepted(label: str) -> None:
    items = [FREE_FORMAT_ITEM | {"label": label}]

    assert find_body_violations(FreeFormatUpdate, {"additional_items": items}) == []


@pytest.mark.parametrize("label", ["", "長" * 61])
def test_a_label_of_another_length_is_refused(label: str) -> None:
    items = [FREE_FORMAT_ITEM, FREE_FORMAT_ITEM | {"label": label}]

    violations = find_body_violations(FreeFormatUpdate, {"additional_items": items})

    assert violations == [("additional_items[1].label", "length 1 to 60")]


@pytest.mark.parametrize("field", FREE_FORMAT_ITEM)
def test_every_field_of_a_free_format_item_is_required(field: str) -> None:
    for item in (omit(FREE_FORMAT_ITEM, field), FREE_FORMAT_ITEM | {field: None}):
        violations = find_body_violations(FreeFormatUpdate, {"additional_items": [item]})

        assert violations == [(f"additional_items[0].{field}", "required")]


@pytest.mark.parametrize(
    ("body", "violations"),
    [
        ({}, [("additional_items", "required")]),
        ({"additional_items": None}, [("additional_items", "required")]),
        ({"additional_items": FREE_FORMAT_ITEM}, [("additional_items", "a list")]),
        ({"additional_items": ["x"]}, [("additional_items[0]", "an object")]),
        (
            {
                "additional_items": [
                    FREE_FORMAT_ITEM | {"enabled": 1, "total": "3000", "quantity": True}
                ]
            },
            [
                ("additional_items[0].enabled", "true or false"),
                ("additional_items[0].quantity", "a number"),
                ("additional_items[0].total", "a number"),
            ],
        ),
    ],
)
def test_a_free_format_update_holds_a_list_of_items(
    body: dict[str, Any], violations: list[tuple[str, str]]
) -> None:
    assert find_body_violations(FreeFormatUpdate, body) == violations
