"""Recalculation entries to start from, put where an import would put them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from nimbill.adjustments.recalculation.operations import EntryReplacement, replace_entries
from nimbill.adjustments.recalculation.records import NewRecalculationEntry
from nimbill.foundation.vendors import Vendor
from tests.answers import Answer
from tests.costs.months.closing import inside
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.running_service import Service

PATH = "/m/core/billinggroup/recalculation"
MONTH, LATER, EARLIER = "2026-01", "2026-02", "2025-12"
PAYER = "000000000042"
CUSTOMER = "012345678901"

FEE = NewRecalculationEntry(
    customer_id=CUSTOMER,
    payer_id=PAYER,
    calc_type="Fee",
    platform_type="AWS",
    description="Sign up charge for subscription: 555, planId: 1",
    product_name="Amazon Elastic Compute Cloud",
    product_code="AmazonEC2",
    currency_code="USD",
    unblended_cost=Decimal("672.0000000000"),
    time_interval="2026-01-01T00:00:00Z/2026-02-01T00:00:00Z",
    usage_start=datetime(2026, 1, 1, tzinfo=UTC),
)
CREDIT = replace(FEE, calc_type="Credit", description="credit", unblended_cost=Decimal("-12.5"))


def deliver(
    service: Service,
    *entries: NewRecalculationEntry,
    month: str = MONTH,
    vendor: Vendor = "aws",
    payer_id: str = PAYER,
) -> EntryReplacement:
    """As an import of this payer and month would."""
    return inside(
        service,
        lambda db, scope: replace_entries(
            db, scope, vendor=vendor, payer_id=payer_id, month=month, entries=entries
        ),
    )


def customer_of_group(service: Service, customer_id: str = CUSTOMER, **group: Any) -> str:
    """An account in a new billing group; the group's company_id."""
    fields = {"billinggroup_id": f"BG-{customer_id}"} | group
    company_id = create_group(service, service.root(), **fields)
    add_account(service, company_id, customer_id=customer_id, account_id=PAYER, name="さくら本番")
    return company_id


def listed(
    service: Service, month: str = MONTH, vendor: str = "aws", headers: Any = None
) -> list[dict[str, Any]]:
    answer = service.http.get(f"{PATH}/{month}?vendor={vendor}", headers=headers or service.root())
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def only(service: Service, month: str = MONTH) -> dict[str, Any]:
    (entry,) = listed(service, month)
    return entry


def apply(service: Service, ids: Sequence[Any], headers: Any = None, **fields: Any) -> Answer:
    body = {
        "data": list(ids),
        "month": MONTH,
        "exchange_rate": 0,
        "tax_free": False,
        "apply": True,
        "vendor": "aws",
    }
    return service.http.post(PATH, json=body | fields, headers=headers or service.root())
