"""What the vendors sent the resellers: their months, laid into the inbox as files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from nimbill.demo.story import AOZORA, MINATO, Reseller
from nimbill.demo.story_months import CURRENT, LAST_CLOSED, MONTHS, OPEN, vendors_invoice

INBOX = "inbox"
SECONDS_MAX = 300

Vendor = Literal["aws", "azure"]


@dataclass(frozen=True, slots=True)
class CostDelivery:
    """A folder of the inbox, with its manifest."""

    reseller: str  # its username
    vendor: Vendor
    month: str
    assembled_at: datetime
    invoice: str | None  # none as long as the vendor has not invoiced the month
    version: str = ""
    days: int = 28  # of the month, that are told

    @property
    def place(self) -> str:
        return f"{self.reseller}/{self.vendor}/{self.month}{self.version}"


def _after(month: str, days: int) -> datetime:
    """So long after the month began, in the morning."""
    start = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    return start + timedelta(days=days, hours=4, minutes=30)


def _final(reseller: Reseller, vendor: Vendor, month: str) -> CostDelivery:
    when, invoice = _after(month, 35), vendors_invoice(vendor, month)
    return CostDelivery(reseller.username, vendor, month, when, invoice)


def _unfinished(vendor: Vendor) -> CostDelivery:
    return CostDelivery(AOZORA.username, vendor, CURRENT, _after(CURRENT, 24), None, days=24)


def _invoiced(vendor: Vendor) -> CostDelivery:
    when, invoice = _after(CURRENT, 35), vendors_invoice(vendor, CURRENT)
    return CostDelivery(AOZORA.username, vendor, CURRENT, when, invoice, "-invoiced")


VENDORS: tuple[Vendor, ...] = ("aws", "azure")
DELIVERIES = (
    *(_final(AOZORA, vendor, month) for month in MONTHS[:-1] for vendor in VENDORS),
    *(_unfinished(vendor) for vendor in VENDORS),
    _final(MINATO, "aws", OPEN),
)
# the month that is not over once more, with the invoices' numbers: for whoever tries the demo
INVOICED = tuple(_invoiced(vendor) for vendor in VENDORS)
# what a vendor sent when the month had long been closed
LATE = CostDelivery(
    AOZORA.username,
    "aws",
    LAST_CLOSED,
    _after(LAST_CLOSED, 70),
    vendors_invoice("aws", LAST_CLOSED),
    "-late",
)


def deliveries_of(reseller: Reseller, months: Sequence[str]) -> list[CostDelivery]:
    """Those that are taken in, month by month."""
    return [one for one in DELIVERIES if one.reseller == reseller.username and one.month in months]


def lay_out_cost_files(folder: Path, months: Sequence[str]) -> None:
    """In a process of its own: what writes them is large and starts threads, and this one forks."""
    wanted = [one for one in (*DELIVERIES, *INVOICED, LATE) if one.month in months]
    if all((folder / INBOX / one.place).exists() for one in wanted):
        return
    subprocess.run(  # noqa: S603  # ourselves
        [sys.executable, "-m", "nimbill.demo.cost_writing", str(folder / INBOX), *months],
        check=True,
        timeout=SECONDS_MAX,
    )
