"""Initial reserved instances and recalculation entries, stored as an import would store them."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.operations import replace_entries
from nimbill.adjustments.reserved_instances.operations import replace_reservations
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.adjustments.recalculation.entries import CUSTOMER, FEE, MONTH, PAYER
from tests.adjustments.reserved_instances.reservations import DEST, build_reservation
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.proof.killed_operations.operation import KeyedRequest, Organisation

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


async def _store_entries(db: AsyncConnection, scope: TenantScope) -> None:
    period = BillingPeriod(MONTH, "aws")
    fees = [replace(FEE, description=f"fee {number}") for number in range(ENTRIES)]
    await replace_entries(db, scope, period, PAYER, fees)
    await replace_reservations(db, scope, period, PAYER, [build_reservation(number=INSTANCES)])
