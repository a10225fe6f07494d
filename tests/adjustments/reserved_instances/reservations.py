"""Sample reservations, and the requests on them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.reserved_instances.moved_fees import MovedFee, list_moved_fees
from nimbill.adjustments.reserved_instances.operations import (
    MonthlyReservation,
    replace_reservations,
)
from nimbill.costs.months.records import load_month_state
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import Vendor
from tests.costs.months.month_requests import run_in_transaction
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.problem_responses import HttpResponse
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


def build_reservation(**fields: Any) -> MonthlyReservation:
    return MonthlyReservation(**RESERVATION | fields)


def import_reservations(
    service: Service,
    *reservations: MonthlyReservation,
    month: str = MONTH,
    vendor: Vendor = "aws",
    payer_id: str = PAYER,
) -> None:
    """Replace the reservations of the payer and month, as an import does."""
    run_in_transaction(
        service,
        lambda db, scope: replace_reservations(
            db, scope, BillingPeriod(month, vendor), payer_id, reservations
        ),
    )


def create_customers(service: Service, *reservations: MonthlyReservation) -> dict[str, str]:
    """Import the reservations and create three customers, each in its own billing group.

    Return the company_id of each customer; the first owns the default reservation.
    """
    import_reservations(service, *(reservations or [build_reservation()]))
    company_ids = {}
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
        company_ids[customer_id] = company_id
    return company_ids


def list_records(
    service: Service, vendor: str = "aws", headers: Any = None
) -> list[dict[str, Any]]:
    response = service.http.get(f"{PATH}?vendor={vendor}", headers=headers or service.root())
    assert response.status_code == 200, response.text
    records: list[dict[str, Any]] = response.json()
    return records


def get_owner_record(service: Service) -> dict[str, Any]:
    """Return the owner's record of the only reservation."""
    (record,) = (record for record in list_records(service) if not record["remove"])
    return record


def list_moved_records(service: Service) -> list[dict[str, Any]]:
    return [record for record in list_records(service) if record["remove"]]


def list_numbers(service: Service) -> list[int]:
    """List the number of the owner's record, then of the moved records, the oldest first."""
    return [record["number"] for record in list_records(service)]


def move_instances(
    service: Service,
    number: Any = 1,
    customer_id: Any = DEST,
    *,
    ri_id: str | None = None,
    vendor: Any = "aws",
    headers: Any = None,
) -> HttpResponse:
    body = {"customer_id": customer_id, "number": number, "vendor": vendor}
    path = f"{PATH}/{get_owner_record(service)['id'] if ri_id is None else ri_id}"
    return service.http.post(path, json=body, headers=headers or service.root())


def remove_move(
    service: Service, ri_id: str, *, vendor: str = "aws", headers: Any = None
) -> HttpResponse:
    path = f"{PATH}/{ri_id}/remove?vendor={vendor}"
    return service.http.post(path, headers=headers or service.root())


def list_fees(service: Service, month: str = MONTH) -> list[MovedFee]:
    period = BillingPeriod(month, "aws")

    async def load(db: AsyncConnection, scope: TenantScope) -> list[MovedFee]:
        state = await load_month_state(db, scope, period)
        return await list_moved_fees(db, scope, period, state)

    return run_in_transaction(service, load)


def sum_fees_by_customer(service: Service, month: str = MONTH) -> dict[str, Decimal]:
    """Sum what moves add to the fees of each customer in a month."""
    sums: dict[str, Decimal] = {}
    for fee in list_fees(service, month):
        sums[fee.customer_id] = sums.get(fee.customer_id, Decimal(0)) + fee.amount
    return sums
