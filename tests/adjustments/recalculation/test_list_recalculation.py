"""GET /m/core/billinggroup/recalculation/{month}"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.adjustments.recalculation.entries import (
    CREDIT,
    CUSTOMER,
    FEE,
    LATER,
    MONTH,
    PATH,
    PAYER,
    apply,
    customer_of_group,
    deliver,
    listed,
    only,
)
from tests.answers import violations_of
from tests.customers.billing_groups.stored import add_project
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.running_service import Service


def test_an_entry_is_shown_with_every_specified_field(service: Service) -> None:
    add_project(service, "prj_a")
    company_id = customer_of_group(
        service, billinggroup_id="BG-1", billinggroup_name="さくら商事", project_id="prj_a"
    )
    deliver(service, FEE)

    (entry,) = listed(service, headers=service.caller(RoleAction.ReadBillingGroup))

    assert entry.pop("id").startswith("rce_")
    assert entry == {
        "customer_id": CUSTOMER,
        "customer_name": "さくら本番",
        "company_id": company_id,
        "billinggroup_id": "BG-1",
        "billinggroup_name": "さくら商事",
        "project_code": "code of prj_a",
        "calc_type": "Fee",
        "platform_type": "AWS",
        "description": "Sign up charge for subscription: 555, planId: 1",
        "product_name": "Amazon Elastic Compute Cloud",
        "product_code": "AmazonEC2",
        "account_id": PAYER,
        "currency_code": "USD",
        "unblended_cost": "672",
        "time_interval": "2026-01-01T00:00:00Z/2026-02-01T00:00:00Z",
        "usage_start": "2026-01-01T00:00:00Z",
        "apply": False,
        "exchange_rate": None,
        "tax_free": False,
        "vendor": "aws",
    }


def test_a_group_without_project_has_no_project_code(service: Service) -> None:
    customer_of_group(service)
    deliver(service, FEE)

    assert only(service)["project_code"] is None


def test_an_account_in_no_group_has_empty_group_fields(service: Service) -> None:
    deliver(service, FEE)

    entry = only(service)

    fields = ("customer_name", "company_id", "billinggroup_id", "billinggroup_name")
    assert [entry[name] for name in fields] == ["", "", "", ""]
    assert entry["project_code"] is None
    assert entry["customer_id"] == CUSTOMER


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        ("672.0000000000000000000000", "672"),
        ("-12.50", "-12.5"),
        ("0.0000000000000000000001", "0.0000000000000000000001"),
        ("9.2E-6", "0.0000092"),
        ("1E+3", "1000"),
        ("1234567890123456.0123456789012345678901", "1234567890123456.0123456789012345678901"),
        ("0.00", "0"),
        ("-0.00", "0"),
    ],
)
def test_the_cost_is_a_text_with_every_digit_that_counts(
    service: Service, cost: str, shown: str
) -> None:
    deliver(service, replace(FEE, unblended_cost=Decimal(cost)))

    assert only(service)["unblended_cost"] == shown


def test_the_rate_is_a_number_with_the_digits_that_were_sent(service: Service) -> None:
    customer_of_group(service)
    deliver(service, FEE)
    sent = (
        f'{{"data": ["{only(service)["id"]}"], "month": "{MONTH}", "exchange_rate": '
        '150.1234567890123456789, "tax_free": true, "apply": true, "vendor": "aws"}'
    )
    headers = service.root() | {"Content-Type": "application/json"}
    assert service.http.post(PATH, content=sent, headers=headers).status_code == 200

    answer = service.http.get(f"{PATH}/{MONTH}?vendor=aws", headers=service.root())

    (entry,) = json.loads(answer.text, parse_float=Decimal)
    assert entry["exchange_rate"] == Decimal("150.1234567890123456789")
    assert entry["tax_free"] is True
    assert entry["apply"] is True


def test_times_are_utc(service: Service) -> None:
    in_tokyo = datetime(2026, 1, 2, 8, 30, tzinfo=timezone(timedelta(hours=9)))
    deliver(service, replace(FEE, usage_start=in_tokyo))

    assert only(service)["usage_start"] == "2026-01-01T23:30:00Z"


def test_they_stand_by_customer_and_time(service: Service) -> None:
    times = [datetime(2026, 1, day, tzinfo=UTC) for day in (3, 1, 2)]
    entries = [replace(FEE, usage_start=at) for at in times]
    other = replace(FEE, customer_id="000000000001")
    deliver(service, *entries, other)

    found = [(entry["customer_id"], entry["usage_start"][:10]) for entry in listed(service)]

    assert found == [
        ("000000000001", "2026-01-01"),
        *((CUSTOMER, f"2026-01-0{day}") for day in (1, 2, 3)),
    ]


def test_entries_of_the_month_are_shown_and_those_applied_into_it(service: Service) -> None:
    customer_of_group(service)
    deliver(service, FEE, CREDIT)
    deliver(service, replace(FEE, description="of February"), month=LATER)
    fee = next(entry["id"] for entry in listed(service) if entry["calc_type"] == "Fee")

    assert apply(service, [fee], month=LATER).status_code == 200

    of_january = {entry["description"]: entry["apply"] for entry in listed(service)}
    assert of_january == {FEE.description: True, "credit": False}
    of_february = {entry["description"]: entry["apply"] for entry in listed(service, LATER)}
    assert of_february == {FEE.description: True, "of February": False}
    assert listed(service, "2026-03") == []


def test_a_vendors_entries_are_its_own(service: Service) -> None:
    """Also where two vendors should use one number for an account."""
    company_id = customer_of_group(service)
    add_account(service, company_id, **AZURE)
    deliver(service, replace(FEE, customer_id=AZURE["customer_id"]), vendor="azure")
    deliver(service, replace(FEE, customer_id=AZURE["customer_id"]), vendor="aws")

    (azure,) = listed(service, vendor="azure")
    (aws,) = listed(service)

    assert (azure["vendor"], azure["billinggroup_id"]) == ("azure", f"BG-{CUSTOMER}")
    assert (aws["vendor"], aws["billinggroup_id"]) == ("aws", "")


def test_a_filter_hides_other_groups_and_accounts_in_none(service: Service) -> None:
    seen = customer_of_group(service)
    customer_of_group(service, "000000000002")
    deliver(
        service,
        *(replace(FEE, customer_id=one) for one in (CUSTOMER, "000000000002", "000000000003")),
    )
    narrowed = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[seen])

    assert [entry["customer_id"] for entry in listed(service, headers=narrowed)] == [CUSTOMER]
    assert len(listed(service)) == 3


def test_another_organisations_entries_are_not_shown(service: Service) -> None:
    deliver(service, FEE)

    service.organisation = service.new_organisation()

    assert listed(service) == []


@pytest.mark.parametrize(
    "month", ["2026-1", "2026-13", "2026", "0000-01", "2026-01%0A", "resource"]
)
def test_what_is_no_month_is_refused(service: Service, month: str) -> None:
    answer = service.http.get(f"{PATH}/{month}?vendor=aws", headers=service.root())

    assert violations_of(answer) == [("month", "a month as yyyy-mm")]


@pytest.mark.parametrize(
    ("query", "rule"),
    [("", "required"), ("?vendor=gcp", "one of aws, azure"), ("?vendor=", "one of aws, azure")],
)
def test_the_vendor_is_required_and_one_of_two(service: Service, query: str, rule: Any) -> None:
    answer = service.http.get(f"{PATH}/{MONTH}{query}", headers=service.root())

    assert violations_of(answer) == [("vendor", rule)]
