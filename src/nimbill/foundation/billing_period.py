"""One calendar month of one vendor: the unit in which costs are imported, closed and invoiced."""

from dataclasses import dataclass

from nimbill.foundation.vendors import Vendor


@dataclass(frozen=True, slots=True)
class BillingPeriod:
    month: str  # yyyy-mm, see calendar_month
    vendor: Vendor
