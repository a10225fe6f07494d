"""Initial reserved instances, recalculation entries and invoices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.operations import replace_entries
from nimbill.adjustments.reserved_instances.operations import replace_reservations
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.adjustments.recalculation.entries import CUSTOMER, FEE, MONTH, PAYER
from tests.adjustments.reserved_instances.reservations import DEST, build_reservation
from tests.customers.billing_groups.sample_bodies import (
    FREE_FORMAT_ITEM,
    REQUIRED_FIELDS,
    VALID_SETTING,
)
from tests.proof.killed_operations.operation import KeyedRequest, Organisation

CORE = "/m/core"
ITEM = FREE_FORMAT_ITEM | {"unit_cost": 1_000_000, "quantity": 100, "total": 100_000_000}
ENTRIES = 12
INSTANCES = 1_000_000


def create_starting_records(organisation: Organisation) -> None:
    """Create one reservation, some entries and two customers, once."""
    if organisation.journal:
        return
    group = organisation.send(KeyedRequest("/m/core/billinggroup", REQUIRED_FIELDS, "group")).json()
    for customer in (CUSTOMER, DEST):
        account = {"vendor": "aws", "customer_id": customer, "account_id": PAYER, "name": customer}
        account |= {"company_id": group["company_id"]}
        answer = organisation.send(KeyedRequest("/m/core/accts", account, customer))
        assert answer.status_code == 200, answer.text
    organisation.run_in_transaction(_store_entries)


def find_group(organisation: Organisation) -> str:
    """Return the company_id of its only billing group."""
    (group,) = organisation.get("/m/core/billinggroup")
    company_id: str = group["company_id"]
    return company_id


def change(organisation: Organisation, method: str, path: str, body: dict[str, Any]) -> None:
    """Send a request of the preparation, which may be repeated."""
    answer = organisation.request_until_answered(method, CORE + path, json=body)
    assert answer.is_success, answer.text


def create_invoice(organisation: Organisation, group: str, month: str) -> None:
    """Create an invoice over a large item; no other operation creates invoices of this month."""
    settings = {"settings": {group: {"aws": VALID_SETTING}}, "internal": False}
    rate = {"vendor": "aws", "billing_groups": [group], "exchange_rate": 150}
    run = {"vendor": "aws", "group": [group], "bulk": False}
    change(
        organisation, "POST", f"/billinggroup/{group}/freeformat/aws", {"additional_items": [ITEM]}
    )
    change(organisation, "PUT", f"/invoices/save/{month}", settings)
    change(organisation, "PUT", f"/invoices/exchangerate/{month}", rate)
    change(organisation, "POST", f"/invoices/calculation/{month}", run)


def send_invoice(organisation: Organisation, group: str, month: str, revision: int = 1) -> None:
    path = f"/invoices/{month}/{group}/aws/sent"
    change(organisation, "PUT", path, {"revision": revision})


async def _store_entries(db: AsyncConnection, scope: TenantScope) -> None:
    period = BillingPeriod(MONTH, "aws")
    fees = [replace(FEE, description=f"fee {number}") for number in range(ENTRIES)]
    await replace_entries(db, scope, period, PAYER, fees)
    await replace_reservations(db, scope, period, PAYER, [build_reservation(number=INSTANCES)])
