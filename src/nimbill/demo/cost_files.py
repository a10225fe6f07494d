"""What the vendors sent the reseller: small invented months, laid into the inbox as files."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

INBOX = "inbox"
FINAL_MONTH, PROVISIONAL_MONTH = "2026-09", "2026-10"
SECONDS_MAX = 120

Vendor = Literal["aws", "azure"]


@dataclass(frozen=True, slots=True)
class CostDelivery:
    """A folder of the inbox, with its manifest."""

    vendor: Vendor
    month: str
    invoice: str | None  # none as long as the vendor has not invoiced the month
    assembled_at: datetime
    version: str = ""

    @property
    def place(self) -> str:
        return f"{self.vendor}/{self.month}{self.version}"


def _at(month: int, day: int) -> datetime:
    return datetime(2026, month, day, 4, 30, tzinfo=UTC)


DELIVERIES = (
    CostDelivery("aws", FINAL_MONTH, "2026000117", _at(10, 5)),
    CostDelivery("azure", FINAL_MONTH, "E0400A17", _at(10, 6)),
    CostDelivery("aws", PROVISIONAL_MONTH, None, _at(11, 1)),
    CostDelivery("azure", PROVISIONAL_MONTH, "E0400B29", _at(11, 6)),
)
# the same month once more, with the invoice's number: for whoever tries the demo to take in
INVOICED = CostDelivery("aws", PROVISIONAL_MONTH, "2026000131", _at(11, 5), "-invoiced")


def lay_out_cost_files(folder: Path) -> None:
    """In a process of its own: what writes them is large and starts threads, and this one forks."""
    if all((folder / INBOX / one.place).exists() for one in (*DELIVERIES, INVOICED)):
        return
    subprocess.run(  # noqa: S603  # ourselves
        [sys.executable, "-m", "nimbill.demo.cost_writing", str(folder / INBOX)],
        check=True,
        timeout=SECONDS_MAX,
    )
