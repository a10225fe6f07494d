"""The cloud vendors. An operation declares the subset of vendors that it allows."""

from typing import Literal, get_args

Vendor = Literal["aws", "azure", "gcp"]

# vendors that have customer accounts, invoice settings and invoices
BilledVendor = Literal["aws", "azure"]

VENDORS: tuple[Vendor, ...] = get_args(Vendor)
BILLED_VENDORS: tuple[BilledVendor, ...] = get_args(BilledVendor)
