"""Writes the files of `cost_files.py`, in a process of its own; the same ones every time."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from nimbill.costs.ingestion.without_pandas import leave_pandas_out
from nimbill.demo.consumption import charges_of
from nimbill.demo.cost_files import DELIVERIES, INVOICED, LATE, CostDelivery
from nimbill.demo.fixtures import production_of
from nimbill.demo.story import AOZORA, RESELLERS
from nimbill.demo.story_months import STRAY_SINCE
from nimbill.demo.vendor_files.months import Charges, Kind
from nimbill.demo.vendor_files.writing import Dialect, Month, write_files

# at the vendors, and in no billing group yet
STRAYS = {"aws": "209999990033", "azure": "5b0c3f4e-8a53-4c1d-9d42-3f1f0a6be9c7"}
CURRENCIES = {"aws": "USD", "azure": "JPY"}
DIALECTS = {"aws": Dialect.aws_cur, "azure": Dialect.azure_mca}

# whose usage the vendor corrected later, and by how much for each line of it
CORRECTED = "BG-0010"
CORRECTION = Decimal("-12.3456789")


def write_cost_files(inbox: Path, months: Sequence[str]) -> None:
    """Each folder is there whole or not at all, so that no import meets half of one."""
    for delivery in (*DELIVERIES, *INVOICED, LATE):
        folder = inbox / delivery.place
        if delivery.month in months and not folder.exists():
            new = folder.with_name(f".{folder.name}.new")
            dialect = DIALECTS[delivery.vendor]
            write_files(month_of(delivery), dialect, new, assembled_at=delivery.assembled_at)
            new.rename(folder)


def month_of(delivery: CostDelivery) -> Month:
    """What the files of a delivery tell."""
    (reseller,) = (one for one in RESELLERS if one.username == delivery.reseller)
    strayed = reseller is AOZORA and delivery.month >= STRAY_SINCE
    strays = (STRAYS[delivery.vendor],) if strayed else ()
    customers, told = charges_of(reseller, delivery.vendor, delivery.month, strays, delivery.days)
    if delivery is LATE:
        told = _corrected(customers, told)
    return Month(
        vendor=delivery.vendor,
        month=delivery.month,
        lines=len(told),
        payer=reseller.payers[delivery.vendor],
        customers=customers,
        currency=CURRENCIES[delivery.vendor],
        invoice=delivery.invoice,
        told=told,
    )


def _corrected(customers: Sequence[str], told: Charges) -> Charges:
    who = customers.index(production_of(AOZORA, CORRECTED, "aws").customer_id)
    lines = zip(
        *(array.to_pylist() for array in (told.customer, told.kind, told.cost)), strict=True
    )
    costs = [
        cost + CORRECTION if (customer, kind) == (who, Kind.usage) else cost
        for customer, kind, cost in lines
    ]
    return replace(told, cost=pa.array(costs, told.cost.type))


if __name__ == "__main__":
    leave_pandas_out()
    write_cost_files(Path(sys.argv[1]), sys.argv[2:])
