"""Field rules of the bodies that create and change cloud accounts."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.customers.cloud_accounts.bodies import CloudAccountCreate, CloudAccountUpdate
from nimbill.http.request_bodies import Body
from tests.body_violations import find_body_violations
from tests.customers.cloud_accounts.accounts import AWS

CREATE = AWS | {"company_id": "cmp_one"}
UPDATE = {name: value for name, value in CREATE.items() if name != "customer_id"}
BODIES: list[tuple[type[Body], dict[str, Any]]] = [
    (CloudAccountCreate, CREATE),
    (CloudAccountUpdate, UPDATE),
]


@pytest.mark.parametrize(("body_class", "body"), BODIES)
def test_every_field_but_the_note_is_required(body_class: type[Body], body: dict[str, Any]) -> None:
    assert find_body_violations(body_class, body) == []
    for field in body:
        absent = {name: value for name, value in body.items() if name != field}
        for invalid in (absent, body | {field: None}):
            assert find_body_violations(body_class, invalid) == [(field, "required")]


@pytest.mark.parametrize(("body_class", "body"), BODIES)
def test_a_name_has_3_to_100_characters(body_class: type[Body], body: dict[str, Any]) -> None:
    for name in ("abc", "長" * 3, "長" * 100, "🌸" * 100):
        assert find_body_violations(body_class, body | {"name": name}) == []
    for name in ("", "ab", "長" * 101):
        violations = find_body_violations(body_class, body | {"name": name})
        assert violations == [("name", "length 3 to 100")]


@pytest.mark.parametrize(("body_class", "body"), BODIES)
@pytest.mark.parametrize("vendor", ["gcp", "AWS", "", 7])
def test_an_unknown_vendor_is_refused(
    body_class: type[Body], body: dict[str, Any], vendor: Any
) -> None:
    violations = find_body_violations(body_class, body | {"vendor": vendor})

    assert violations == [("vendor", "one of aws, azure")]


@pytest.mark.parametrize("account_id", ["", "12345678901", "1234567890123", "0000042"])
def test_an_update_checks_the_account_number(account_id: str) -> None:
    violations = find_body_violations(CloudAccountUpdate, UPDATE | {"account_id": account_id})

    assert violations == [("account_id", "12 digits")]


def test_a_number_is_not_a_text() -> None:
    violations = find_body_violations(CloudAccountCreate, CREATE | {"customer_id": 123456789012})

    assert violations == [("customer_id", "a text")]
