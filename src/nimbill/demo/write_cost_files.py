"""Writes the cost files of the demo. Every run writes the same files."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from nimbill.costs.ingestion.pandas_block import block_pandas
from nimbill.demo.account_charges import build_charges
from nimbill.demo.cost_deliveries import LATE_DELIVERY, CostDelivery, list_all_deliveries
from nimbill.demo.fixtures import find_production_account
from nimbill.demo.monthly_data import UNASSIGNED_ACCOUNTS_SINCE
from nimbill.demo.resellers import AOZORA, RESELLERS
from nimbill.demo.vendor_files.charges import ChargeKind, Charges, SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.foundation.private_files import make_files_private

# Accounts that appear in the cost files but belong to no billing group.
UNASSIGNED_ACCOUNTS = {"aws": "209999990033", "azure": "5b0c3f4e-8a53-4c1d-9d42-3f1f0a6be9c7"}
CURRENCIES = {"aws": "USD", "azure": "JPY"}
DIALECTS = {"aws": Dialect.aws_cur, "azure": Dialect.azure_mca}

# The late delivery changes every usage line of this customer by this amount.
CORRECTED_BILLING_GROUP = "BG-0010"
CORRECTION = Decimal("-12.3456789")


def write_cost_files(inbox: Path, reseller: str, months: Sequence[str]) -> None:
    """A folder appears only when it is complete, so that no import reads a part of it."""
    for delivery in list_all_deliveries(reseller, months):
        folder = inbox / delivery.folder
        if not folder.exists():
            new_folder = folder.with_name(f".{folder.name}.new")
            dialect = DIALECTS[delivery.vendor]
            month = build_month(delivery)
            write_files(month, dialect, new_folder, assembled_at=delivery.assembled_at)
            new_folder.rename(folder)


def build_month(delivery: CostDelivery) -> SyntheticMonth:
    reseller = next(each for each in RESELLERS if each.username == delivery.reseller)
    has_unassigned = reseller is AOZORA and delivery.month >= UNASSIGNED_ACCOUNTS_SINCE
    unassigned = (UNASSIGNED_ACCOUNTS[delivery.vendor],) if has_unassigned else ()
    customers, charges = build_charges(
        reseller, delivery.vendor, delivery.month, unassigned, delivery.days
    )
    if delivery is LATE_DELIVERY:
        charges = _apply_correction(customers, charges)
    return SyntheticMonth(
        vendor=delivery.vendor,
        month=delivery.month,
        lines=len(charges),
        payer=reseller.payers[delivery.vendor],
        customers=customers,
        currency=CURRENCIES[delivery.vendor],
        invoice=delivery.invoice,
        charges=charges,
    )


def _apply_correction(customers: Sequence[str], charges: Charges) -> Charges:
    account = find_production_account(AOZORA, CORRECTED_BILLING_GROUP, "aws")
    corrected_customer = customers.index(account.customer_id)
    lines = zip(
        *(array.to_pylist() for array in (charges.customer, charges.kind, charges.cost)),
        strict=True,
    )
    costs = [
        cost + CORRECTION if (customer, kind) == (corrected_customer, ChargeKind.usage) else cost
        for customer, kind, cost in lines
    ]
    return replace(charges, cost=pa.array(costs, charges.cost.type))


if __name__ == "__main__":
    block_pandas()
    make_files_private()
    write_cost_files(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
