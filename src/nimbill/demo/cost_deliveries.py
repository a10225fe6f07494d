"""The cost files that vendors delivered to the resellers, as folders of their inboxes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nimbill.demo.monthly_data import (
    CURRENT_MONTH,
    CURRENT_MONTH_DAYS,
    LAST_CLOSED_MONTH,
    MONTHS,
    OPEN_MONTH,
    vendor_invoice_number,
)
from nimbill.demo.resellers import AOZORA, MINATO, DemoReseller
from nimbill.foundation.vendors import BilledVendor

WRITE_SECONDS_MAX = 300


@dataclass(frozen=True, slots=True)
class CostDelivery:
    """A folder of the reseller's inbox that holds the files of a month and their manifest."""

    reseller: str  # username
    vendor: BilledVendor
    month: str
    assembled_at: datetime
    invoice: str | None  # None until the vendor has invoiced the month
    version: str = ""
    days: int = 28  # days of the month that the files cover

    @property
    def folder(self) -> str:
        return f"{self.vendor}/{self.month}{self.version}"


def _days_after_start(month: str, days: int) -> datetime:
    start = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    return start + timedelta(days=days, hours=4, minutes=30)


def _final_delivery(
    reseller: DemoReseller, vendor: BilledVendor, month: str, version: str = ""
) -> CostDelivery:
    return CostDelivery(
        reseller.username,
        vendor,
        month,
        _days_after_start(month, 35),
        vendor_invoice_number(vendor, month),
        version,
    )


def _provisional_delivery(vendor: BilledVendor) -> CostDelivery:
    days = CURRENT_MONTH_DAYS
    assembled_at = _days_after_start(CURRENT_MONTH, days)
    return CostDelivery(AOZORA.username, vendor, CURRENT_MONTH, assembled_at, None, days=days)


VENDORS: tuple[BilledVendor, ...] = ("aws", "azure")
DELIVERIES = (
    *(_final_delivery(AOZORA, vendor, month) for month in MONTHS[:-1] for vendor in VENDORS),
    *(_provisional_delivery(vendor) for vendor in VENDORS),
    _final_delivery(MINATO, "aws", OPEN_MONTH),
)
# The invoiced version of the current month. The guide shows how to import it.
INVOICED_DELIVERIES = tuple(
    _final_delivery(AOZORA, vendor, CURRENT_MONTH, "-invoiced") for vendor in VENDORS
)
# A correction that the vendor delivered after the month was closed.
LATE_DELIVERY = CostDelivery(
    AOZORA.username,
    "aws",
    LAST_CLOSED_MONTH,
    _days_after_start(LAST_CLOSED_MONTH, 70),
    vendor_invoice_number("aws", LAST_CLOSED_MONTH),
    "-late",
)
ALL_DELIVERIES = (*DELIVERIES, *INVOICED_DELIVERIES, LATE_DELIVERY)


def list_deliveries(reseller: DemoReseller, months: Sequence[str]) -> list[CostDelivery]:
    """The deliveries that the demo imports, in the order of their months."""
    return [
        delivery
        for delivery in DELIVERIES
        if delivery.reseller == reseller.username and delivery.month in months
    ]


def list_all_deliveries(reseller: str, months: Sequence[str]) -> list[CostDelivery]:
    """Also the deliveries that the demo does not import itself; `reseller` is a username."""
    return [
        delivery
        for delivery in ALL_DELIVERIES
        if delivery.reseller == reseller and delivery.month in months
    ]


def inbox_of(folder: Path, organisation_id: str) -> Path:
    """The folder from which the API imports for this organisation; `folder` holds all data."""
    return folder / "inbox" / organisation_id


def write_missing_cost_files(inbox: Path, reseller: DemoReseller, months: Sequence[str]) -> None:
    """Writes in a child process: it needs much memory and threads, and this process forks."""
    deliveries = list_all_deliveries(reseller.username, months)
    if all((inbox / delivery.folder).exists() for delivery in deliveries):
        return
    arguments = [str(inbox), reseller.username, *months]
    subprocess.run(  # noqa: S603  # runs this program
        [sys.executable, "-m", "nimbill.demo.write_cost_files", *arguments],
        check=True,
        timeout=WRITE_SECONDS_MAX,
    )
