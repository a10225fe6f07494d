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
    apply_entries,
    create_group_with_account,
    get_only_entry,
    import_entries,
    list_entries,
)
from tests.customers.billing_groups.billing_groups import add_project
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.problem_responses import read_violations
from tests.running_service import Service


def test_an_entry_is_shown_with_every_specified_field(service: Service) -> None:
    add_project(service, "prj_a")
    company_id = create_group_with_account(
        service, billinggroup_id="BG-1", billinggroup_name="さくら商事", project_id="prj_a"
    )
    import_entries(service, FEE)

    (entry,) = list_entries(service, headers=service.caller(RoleAction.ReadBillingGroup))

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
    create_group_with_account(service)
    import_entries(service, FEE)

    assert get_only_entry(service)["project_code"] is None


def test_an_account_in_no_group_has_empty_group_fields(service: Service) -> None:
    import_entries(service, FEE)

    entry = get_only_entry(service)

    fields = ("customer_name", "company_id", "billinggroup_id", "billinggroup_name")
    assert [entry[name] for name in fields] == ["", "", "", ""]
    assert entry["project_code"] is None
    assert entry["customer_id"] == CUSTOMER


def test_the_cost_is_a_text_with_all_significant_digits(service: Service) -> None:
    costs = {
        "672.0000000000000000000000": "672",
        "-12.50": "-12.5",
        "0.0000000000000000000001": "0.0000000000000000000001",
        "9.2E-6": "0.0000092",
        "1E+3": "1000",
        "1234567890123456.0123456789012345678901": "1234567890123456.0123456789012345678901",
        "0.00": "0",
        "-0.00": "0",
    }
    import_entries(
        service,
        *(replace(FEE, description=cost, unblended_cost=Decimal(cost)) for cost in costs),
    )

    entries = list_entries(service)

    assert {entry["description"]: entry["unblended_cost"] for entry in entries} == costs


def test_the_exchange_rate_is_a_number_with_the_digits_sent(service: Service) -> None:
    create_group_with_account(service)
    import_entries(service, FEE)
    body = (
        f'{{"data": ["{get_only_entry(service)["id"]}"], "month": "{MONTH}", "exchange_rate": '
        '150.1234567890123456789, "tax_free": true, "apply": true, "vendor": "aws"}'
    )
    headers = service.root() | {"Content-Type": "application/json"}
    assert service.http.post(PATH, content=body, headers=headers).status_code == 200

    response = service.http.get(f"{PATH}/{MONTH}?vendor=aws", headers=service.root())

    (entry,) = json.loads(response.text, parse_float=Decimal)
    assert entry["exchange_rate"] == Decimal("150.1234567890123456789")
    assert entry["tax_free"] is True
    assert entry["apply"] is True


def test_times_are_shown_in_utc(service: Service) -> None:
    in_tokyo = datetime(2026, 1, 2, 8, 30, tzinfo=timezone(timedelta(hours=9)))
    import_entries(service, replace(FEE, usage_start=in_tokyo))

    assert get_only_entry(service)["usage_start"] == "2026-01-01T23:30:00Z"


def test_entries_are_sorted_by_customer_and_time(service: Service) -> None:
    times = [datetime(2026, 1, day, tzinfo=UTC) for day in (3, 1, 2)]
    entries = [replace(FEE, usage_start=at) for at in times]
    other = replace(FEE, customer_id="000000000001")
    import_entries(service, *entries, other)

    found = [(entry["customer_id"], entry["usage_start"][:10]) for entry in list_entries(service)]

    assert found == [
        ("000000000001", "2026-01-01"),
        *((CUSTOMER, f"2026-01-0{day}") for day in (1, 2, 3)),
    ]


def test_entries_of_the_month_and_entries_applied_to_it_are_listed(service: Service) -> None:
    create_group_with_account(service)
    import_entries(service, FEE, CREDIT)
    import_entries(service, replace(FEE, description="of February"), month=LATER)
    fee = next(entry["id"] for entry in list_entries(service) if entry["calc_type"] == "Fee")

    assert apply_entries(service, [fee], month=LATER).status_code == 200

    of_january = {entry["description"]: entry["apply"] for entry in list_entries(service)}
    assert of_january == {FEE.description: True, "credit": False}
    of_february = {entry["description"]: entry["apply"] for entry in list_entries(service, LATER)}
    assert of_february == {FEE.description: True, "of February": False}
    assert list_entries(service, "2026-03") == []


def test_entries_of_another_vendor_are_not_listed(service: Service) -> None:
    """Even if two vendors use the same id for an account."""
    company_id = create_group_with_account(service)
    add_account(service, company_id, **AZURE)
    import_entries(service, replace(FEE, customer_id=AZURE["customer_id"]), vendor="azure")
    import_entries(service, replace(FEE, customer_id=AZURE["customer_id"]), vendor="aws")

    (azure,) = list_entries(service, vendor="azure")
    (aws,) = list_entries(service)

    assert (azure["vendor"], azure["billinggroup_id"]) == ("azure", f"BG-{CUSTOMER}")
    assert (aws["vendor"], aws["billinggroup_id"]) == ("aws", "")


def test_restricted_users_see_only_entries_of_their_billing_groups(service: Service) -> None:
    seen = create_group_with_account(service)
    create_group_with_account(service, "000000000002")
    import_entries(
        service,
        *(
            replace(FEE, customer_id=customer_id)
            for customer_id in (CUSTOMER, "000000000002", "000000000003")
        ),
    )
    restricted = service.caller(RoleAction.ModifyBillingGroup, billing_groups=[seen])

    assert [entry["customer_id"] for entry in list_entries(service, headers=restricted)] == [
        CUSTOMER
    ]
    assert len(list_entries(service)) == 3


def test_entries_of_another_organisation_are_not_listed(service: Service) -> None:
    import_entries(service, FEE)

    service.organisation = service.new_organisation()

    assert list_entries(service) == []


@pytest.mark.parametrize(
    "month", ["2026-1", "2026-13", "2026", "0000-01", "2026-01%0A", "resource"]
)
def test_an_invalid_month_is_refused(service: Service, month: str) -> None:
    response = service.http.get(f"{PATH}/{month}?vendor=aws", headers=service.root())

    assert read_violations(response) == [("month", "a month as yyyy-mm")]


@pytest.mark.parametrize(
    ("query", "rule"),
    [("", "required"), ("?vendor=gcp", "one of aws, azure"), ("?vendor=", "one of aws, azure")],
)
def test_the_vendor_is_required_and_must_be_aws_or_azure(
    service: Service, query: str, rule: Any
) -> None:
    response = service.http.get(f"{PATH}/{MONTH}{query}", headers=service.root())

    assert read_violations(response) == [("vendor", rule)]


def test_details_name_the_month_that_an_entry_is_applied_to(service: Service) -> None:
    create_group_with_account(service)
    import_entries(service, FEE, CREDIT)
    applied, open_entry = list_entries(service)
    assert apply_entries(service, [applied["id"]], month=LATER).status_code == 200
    path = f"{PATH}/{MONTH}?vendor=aws&details=true"

    with_details = service.http.get(path, headers=service.root()).json()

    months = {entry["id"]: entry["applied_month"] for entry in with_details}
    assert months == {applied["id"]: LATER, open_entry["id"]: None}
    assert all("applied_month" not in entry for entry in list_entries(service))
