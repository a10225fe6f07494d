"""Writes the files of `cost_files.py`, in a process of its own; the same ones every time."""

import sys
from pathlib import Path

from nimbill.costs.without_pandas import leave_pandas_out
from nimbill.demo.cost_files import DELIVERIES, INVOICED, CostDelivery
from nimbill.demo.estate import accounts_of
from nimbill.demo.story import AOZORA
from nimbill.demo.vendor_files import Dialect, Month, write_files

# at the vendors, and in no billing group yet: somebody opened it and told nobody
STRAYS = {"aws": "209999990033", "azure": "5b0c3f4e-8a53-4c1d-9d42-3f1f0a6be9c7"}
LINES = {"aws": 1_200, "azure": 600}


def write_cost_files(inbox: Path) -> None:
    """Each folder is there whole or not at all, so that no import meets half of one."""
    for delivery in (*DELIVERIES, INVOICED):
        folder = inbox / delivery.place
        if not folder.exists():
            new = folder.with_name(f".{folder.name}.new")
            _write(delivery, new)
            new.rename(folder)


def _write(delivery: CostDelivery, folder: Path) -> None:
    accounts = (
        account.customer_id
        for place, customer in enumerate(AOZORA.customers, start=1)
        for account in accounts_of(customer, place)
        if account.vendor == delivery.vendor
    )
    month = Month(
        vendor=delivery.vendor,
        month=delivery.month,
        lines=LINES[delivery.vendor],
        seed=20,
        customers=(*accounts, STRAYS[delivery.vendor]),
        invoice=delivery.invoice,
    )
    if delivery.vendor == "aws":
        dialect, parts = Dialect.aws_cur, 2
    else:
        dialect, parts = Dialect.azure_ea, 1
    write_files(month, dialect, folder, parts=parts, assembled_at=delivery.assembled_at)


if __name__ == "__main__":
    leave_pandas_out()
    write_cost_files(Path(sys.argv[1]))
