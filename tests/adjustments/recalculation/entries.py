"""Sample recalculation entries, and the requests on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from nimbill.adjustments.recalculation.operations import EntryReplacement, replace_entries
from nimbill.adjustments.recalculation.records import NewRecalculationEntry
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import Vendor
from tests.costs.months.month_requests import run_in_transaction
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.problem_responses import HttpResponse
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


def import_entries(
    service: Service,
    *entries: NewRecalculationEntry,
    month: str = MONTH,
    vendor: Vendor = "aws",
    payer_id: str = PAYER,
) -> EntryReplacement:
    """Replace the entries of the payer and month, as an import does."""
    return run_in_transaction(
        service,
        lambda db, scope: replace_entries(
            db, scope, BillingPeriod(month, vendor), payer_id, entries
        ),
    )


def create_group_with_account(service: Service, customer_id: str = CUSTOMER, **group: Any) -> str:
    """Create a billing group with one account; return its company_id."""
    fields = {"billinggroup_id": f"BG-{customer_id}"} | group
    company_id = create_group(service, service.root(), **fields)
    add_account(service, company_id, customer_id=customer_id, account_id=PAYER, name="さくら本番")
    return company_id


def list_entries(
    service: Service, month: str = MONTH, vendor: str = "aws", headers: Any = None
) -> list[dict[str, Any]]:
    response = service.http.get(
        f"{PATH}/{month}?vendor={vendor}", headers=headers or service.root()
    )
    assert response.status_code == 200, response.text
    entries: list[dict[str, Any]] = response.json()
    return entries


def get_only_entry(service: Service, month: str = MONTH) -> dict[str, Any]:
    (entry,) = list_entries(service, month)
    return entry


def apply_entries(
    service: Service, ids: Sequence[Any], headers: Any = None, **fields: Any
) -> HttpResponse:
    body = {
        "data": list(ids),
        "month": MONTH,
        "exchange_rate": 0,
        "tax_free": False,
        "apply": True,
        "vendor": "aws",
    }
    return service.http.post(PATH, json=body | fields, headers=headers or service.root())
