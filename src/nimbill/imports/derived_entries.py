"""What follows from a month's lines: recalculation entries and reservations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from nimbill.adjustments.recalculation.records import NewEntry
from nimbill.adjustments.reserved_instances.operations import ReservationOfMonth
from nimbill.foundation.basis import chosen

if TYPE_CHECKING:
    import pyarrow as pa

basis = chosen("recalculation-entries")
reservations_basis = chosen("reserved-instance-records")

# as written, where they are known; when it starts and ends is named otherwise in a line
_TEXTS = tuple(
    one.name
    for one in fields(ReservationOfMonth)
    if one.default == "" and one.name not in ("start", "end")
)


def entries_of(lines: pa.Table, payers: Collection[str]) -> dict[str, list[NewEntry]]:
    """By payer; every one-off line is an entry of its own, however alike two of them are."""
    entries: dict[str, list[NewEntry]] = {payer: [] for payer in payers}
    for line in lines.sort_by([("part", "ascending"), ("line", "ascending")]).to_pylist():
        start, end = line["usage_start"], line["usage_end"] or line["usage_start"]
        entries[line["payer_id"]].append(
            NewEntry(
                customer_id=line["customer_id"],
                payer_id=line["payer_id"],
                calc_type=line["entry_type"],
                platform_type=line["billing_entity"],
                description=line["description"] or "",
                product_name=line["service_name"] or line["service"],
                product_code=line["service"],
                currency_code=line["currency"],
                unblended_cost=line["cost"],
                time_interval=f"{_written(start)}/{_written(end)}",
                usage_start=start,
                invoice_id=line["invoice_id"],
            )
        )
    return entries


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def reservations_of(
    lines: pa.Table, payers: Collection[str], vendor: str
) -> dict[str, list[ReservationOfMonth]]:
    """By payer, for their owners: whoever only uses a reservation is not charged for it."""
    reservations: dict[str, list[ReservationOfMonth]] = defaultdict(list)
    for one in lines.to_pylist():
        if one["fee_lines"]:
            reservations[one["payer_id"]].append(_reservation(one, vendor))
    return {payer: reservations[payer] for payer in payers}


def _reservation(one: dict[str, Any], vendor: str) -> ReservationOfMonth:
    number = one["number"] or 0
    return ReservationOfMonth(
        reservation_id=one["reservation_id"],
        customer_id=one["customer_id"],
        payer_id=one["payer_id"],
        fee=one["fee"],
        currency=one["currency"],
        number=number if number or vendor != "aws" else 1,
        start=one["reservation_start"] or "",
        end=one["reservation_end"] or "",
        **{name: one[name] or "" for name in _TEXTS},
    )
