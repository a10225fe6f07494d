"""Reservations to start from, put where an import would put them, and how they are moved."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from nimbill.adjustments.reserved_instances.operations import (
    MovedFee,
    ReservationOfMonth,
    moved_fees,
    replace_reservations,
)
from nimbill.foundation.vendors import Vendor
from tests.answers import Answer
from tests.costs.months.closing import inside
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.running_service import Service

PATH = "/m/core/ri/purchased"
MONTH, LATER, EARLIER = "2026-01", "2026-02", "2025-12"
PAYER = "000000000042"
OWNER, DEST, OTHER = "012345678901", "000000000002", "000000000003"
ARN = "arn:aws:ec2:ap-northeast-1:012345678901:reserved-instances/6a1f6a1f-2b2b-4c4c-8d8d-9e9e9e9e"

RESERVATION: dict[str, Any] = {
    "reservation_id": ARN,
    "customer_id": OWNER,
    "payer_id": PAYER,
    "fee": Decimal("149.775379"),
    "currency": "USD",
    "number": 10,
    "start": "2025-06-01T04:11:37.000Z",
    "end": "2999-06-01T04:11:36.000Z",
    "instance_type": "m5.large",
    "modification_status": "Original",
    "offer_class": "standard",
    "payment_option": "No Upfront",
    "platform": "Linux/UNIX",
    "region": "ap-northeast-1",
    "scope": "Region",
    "service": "AmazonEC2",
    "tenancy": "Shared",
    "term_length": "1yr",
    "usage_type": "APN1-HeavyUsage:m5.large",
    "zone": "ap-northeast-1a",
    "normalization_factor": "4",
    "unblended_rate": "0.0786000000",
    "upfront_value": "0.0",
}


def reservation(**fields: Any) -> ReservationOfMonth:
    return ReservationOfMonth(**RESERVATION | fields)


def deliver(
    service: Service,
    *reservations: ReservationOfMonth,
    month: str = MONTH,
    vendor: Vendor = "aws",
    payer_id: str = PAYER,
) -> None:
    """As an import of this payer and month would."""
    inside(
        service,
        lambda db, scope: replace_reservations(
            db, scope, vendor=vendor, payer_id=payer_id, month=month, reservations=reservations
        ),
    )


def furnish(service: Service, *reservations: ReservationOfMonth) -> dict[str, str]:
    """Three customers in groups of their own, the first of them an owner; their company ids."""
    deliver(service, *(reservations or [reservation()]))
    found = {}
    for customer_id in (OWNER, DEST, OTHER):
        name = f"BG-{customer_id}"
        company_id = create_group(
            service,
            service.root(),
            billinggroup_id=name,
            billinggroup_name=f"group of {customer_id}",
        )
        account = {"customer_id": customer_id, "account_id": PAYER}
        add_account(service, company_id, **account, name=f"name of {customer_id}")
        found[customer_id] = company_id
    return found


def listed(service: Service, vendor: str = "aws", headers: Any = None) -> list[dict[str, Any]]:
    answer = service.http.get(f"{PATH}?vendor={vendor}", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def owned(service: Service) -> dict[str, Any]:
    """The owner's record of the only reservation."""
    (record,) = (one for one in listed(service) if not one["remove"])
    return record


def moved(service: Service) -> list[dict[str, Any]]:
    return [one for one in listed(service) if one["remove"]]


def numbers(service: Service) -> list[int]:
    """Of the owner's record, then of those moved, the oldest first."""
    return [one["number"] for one in listed(service)]


def move(
    service: Service,
    number: Any = 1,
    customer_id: Any = DEST,
    *,
    ri_id: str | None = None,
    vendor: Any = "aws",
    headers: Any = None,
) -> Answer:
    body = {"customer_id": customer_id, "number": number, "vendor": vendor}
    path = f"{PATH}/{owned(service)['id'] if ri_id is None else ri_id}"
    return service.http.post(path, json=body, headers=headers or service.root())


def remove(service: Service, ri_id: str, *, vendor: str = "aws", headers: Any = None) -> Answer:
    path = f"{PATH}/{ri_id}/remove?vendor={vendor}"
    return service.http.post(path, headers=headers or service.root())


def fees(service: Service, month: str = MONTH) -> list[MovedFee]:
    return inside(service, lambda db, scope: moved_fees(db, scope, "aws", month))


def by_customer(service: Service, month: str = MONTH) -> dict[str, Decimal]:
    """What moving adds to each customer's fees in a month."""
    found: dict[str, Decimal] = {}
    for fee in fees(service, month):
        found[fee.customer_id] = found.get(fee.customer_id, Decimal(0)) + fee.amount
    return found
