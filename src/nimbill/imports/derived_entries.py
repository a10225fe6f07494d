"""Derives recalculation entries and reservations from the lines of an imported month."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from nimbill.adjustments.recalculation.records import NewRecalculationEntry
from nimbill.adjustments.reserved_instances.operations import MonthlyReservation

if TYPE_CHECKING:
    import pyarrow as pa

# See docs/choices.md, recalculation-entries.
# See docs/choices.md, reserved-instance-records.

# optional texts with the same name in a line; its names of start and end are different
_TEXT_FIELDS = tuple(
    field.name
    for field in fields(MonthlyReservation)
    if field.default == "" and field.name not in ("start", "end")
)


def build_entries(
    lines: pa.Table, payers: Collection[str]
) -> dict[str, list[NewRecalculationEntry]]:
    """Return the entries by payer; every one-off line is an entry, also if two are identical."""
    entries: dict[str, list[NewRecalculationEntry]] = {payer: [] for payer in payers}
    for line in lines.sort_by([("part", "ascending"), ("line", "ascending")]).to_pylist():
        start, end = line["usage_start"], line["usage_end"] or line["usage_start"]
        entries[line["payer_id"]].append(
            NewRecalculationEntry(
                customer_id=line["customer_id"],
                payer_id=line["payer_id"],
                calc_type=line["entry_type"],
                platform_type=line["billing_entity"],
                description=line["description"] or "",
                product_name=line["service_name"] or line["service"],
                product_code=line["service"],
                currency_code=line["currency"],
                unblended_cost=line["cost"],
                time_interval=f"{_format_time(start)}/{_format_time(end)}",
                usage_start=start,
                invoice_id=line["invoice_id"],
            )
        )
    return entries


def _format_time(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def build_reservations(
    lines: pa.Table, payers: Collection[str], vendor: str
) -> dict[str, list[MonthlyReservation]]:
    """Return the reservations by payer; accounts that only use a reservation pay no fee for it."""
    reservations: dict[str, list[MonthlyReservation]] = defaultdict(list)
    for line in lines.to_pylist():
        if line["fee_lines"]:
            reservations[line["payer_id"]].append(_build_reservation(line, vendor))
    return {payer: reservations[payer] for payer in payers}


def _build_reservation(line: dict[str, Any], vendor: str) -> MonthlyReservation:
    number = line["number"] or 0
    return MonthlyReservation(
        reservation_id=line["reservation_id"],
        customer_id=line["customer_id"],
        payer_id=line["payer_id"],
        fee=line["fee"],
        currency=line["currency"],
        number=number if number or vendor != "aws" else 1,
        start=line["reservation_start"] or "",
        end=line["reservation_end"] or "",
        **{name: line[name] or "" for name in _TEXT_FIELDS},
    )
