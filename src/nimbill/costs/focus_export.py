"""A month written as a FOCUS 1.2 Parquet file: what was imported, whoever the vendor.

Taken in again as FOCUS it gives the same sums, line types and kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.costs.focus_columns import ALL_COLUMNS, FOCUS_SCHEMA
from nimbill.costs.formats.focus import CATEGORIES, CORRECTION, vendor_of
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CountingFile
from nimbill.foundation.basis import chosen
from nimbill.foundation.calendar_month import first_moment, last_moment
from nimbill.foundation.fsync import fsync_path

basis = chosen("focus-out")

LINES_AT_ONCE = 65_536

PROVIDERS = {"aws": "AWS", "azure": "Microsoft", "gcp": "Google Cloud"}
SUB_ACCOUNTS = {"aws": "Account", "azure": "Subscription", "gcp": "Project"}
RECURRING = ("RIFee", "SavingsPlanRecurringFee")


class Charge(NamedTuple):
    """How FOCUS calls a line."""

    category: str
    class_: str | None = None


BY_KIND = {
    LineKind.usage: Charge("Usage"),
    LineKind.tax: Charge("Tax"),
    LineKind.discount: Charge("Credit"),
    LineKind.unknown: Charge("Adjustment"),
}
BY_ENTRY_TYPE = {
    EntryType.fee: Charge("Purchase"),
    EntryType.upfront: Charge("Purchase"),
    EntryType.credit: Charge("Credit"),
    EntryType.refund: Charge("Usage", CORRECTION.strip()),
}


def charge_of(line_type: str, kind: str, entry_type: str | None) -> Charge:
    """A word of FOCUS's own stays what it is; any other is told by what it is to a bill."""
    plain = line_type.removesuffix(CORRECTION)
    if plain in CATEGORIES:
        return Charge(plain, CORRECTION.strip() if plain != line_type else None)
    if kind == LineKind.entry:
        return BY_ENTRY_TYPE[EntryType(entry_type or EntryType.fee)]
    return BY_KIND[LineKind(kind)]


def write_focus(lake: Lake, files: Sequence[CountingFile], month: str, output: Path) -> int:
    """How many lines there are; the file is there whole, or what was there before stays."""
    half_done = output.with_name(f".{output.name}.part")
    try:
        lines = 0
        with pq.ParquetWriter(half_done, FOCUS_SCHEMA, compression="zstd") as writer:
            for piece in _pieces(lake, files, month):
                writer.write_table(piece)
                lines += len(piece)
        fsync_path(half_done)
        half_done.replace(output)
        fsync_path(output.parent)
    except BaseException:
        with suppress(OSError):
            half_done.unlink(missing_ok=True)
        raise
    return lines


def _pieces(lake: Lake, files: Sequence[CountingFile], month: str) -> Iterator[pa.Table]:
    for file in files:
        counts = pc.field("payer_id").isin(sorted(file.payers))
        scanner = lake.dataset([file.path]).scanner(filter=counts, batch_size=LINES_AT_ONCE)
        for batch in scanner.to_batches():
            if len(batch):
                yield _as_focus(pa.Table.from_batches([batch]), file.vendor, month)


def _as_focus(lines: pa.Table, vendor: str, month: str) -> pa.Table:
    columns = _known(lines, vendor, month)
    arrays = [
        _filled(columns.get(name), column.type, len(lines)) for name, column in ALL_COLUMNS.items()
    ]
    return pa.Table.from_arrays(arrays, schema=FOCUS_SCHEMA)


def _filled(value: Any, kind: pa.DataType, count: int) -> Any:
    """A column, one value for every line, or nothing."""
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value.cast(kind)
    return pa.nulls(count, kind) if value is None else pa.repeat(pa.scalar(value, kind), count)


def _known(lines: pa.Table, vendor: str, month: str) -> dict[str, Any]:
    provider, cost = PROVIDERS[vendor], lines["cost"]
    commitment = pc.coalesce(lines["reservation_id"], lines["savings_plan_id"])
    is_used = pc.and_(pc.equal(lines["kind"], LineKind.usage.value), pc.is_valid(commitment))
    customer = pc.if_else(pc.equal(lines["customer_id"], ""), None, lines["customer_id"])
    charges = _charges(lines)
    return {
        "AvailabilityZone": lines["zone"],
        "BilledCost": cost,
        "BillingAccountId": lines["payer_id"],
        "BillingAccountType": "Billing Account",
        "BillingCurrency": lines["currency"],
        "BillingPeriodEnd": last_moment(month) + timedelta(microseconds=1),
        "BillingPeriodStart": first_moment(month),
        "ChargeCategory": charges["category"],
        "ChargeClass": charges["class"],
        "ChargeDescription": lines["description"],
        "ChargeFrequency": charges["frequency"],
        "ChargePeriodEnd": _ends(lines),
        "ChargePeriodStart": lines["usage_start"],
        "CommitmentDiscountCategory": _one_of(lines, reservation="Usage", plan="Spend"),
        "CommitmentDiscountId": commitment,
        "CommitmentDiscountStatus": pc.if_else(is_used, "Used", None),
        "CommitmentDiscountType": _one_of(lines, reservation="Reservation", plan="Savings Plan"),
        "ContractedCost": cost,
        "EffectiveCost": pc.coalesce(lines["effective_cost"], cost),
        "InvoiceId": lines["invoice_id"],
        "InvoiceIssuerName": provider,
        "ListCost": cost,
        "PricingCategory": pc.if_else(
            pc.equal(charges["category"], "Usage"),
            pc.if_else(is_used, "Committed", "Standard"),
            None,
        ),
        "ProviderName": provider,
        "PublisherName": _publishers(lines, vendor),
        "RegionId": lines["region"],
        "RegionName": lines["region"],
        "ServiceCategory": "Other",
        "ServiceName": lines["service"],
        "ServiceSubcategory": "Other (Other)",
        "SkuMeter": lines["usage_type"],
        "SubAccountId": customer,
        "SubAccountName": lines["customer_name"],
        "SubAccountType": pc.if_else(pc.is_valid(customer), SUB_ACCOUNTS[vendor], None),
        "Tags": _tags(lines["tags"]),
        "x_NimbillBillingEntity": lines["billing_entity"],
        "x_NimbillEntryType": lines["entry_type"],
        "x_NimbillKind": lines["kind"],
        "x_NimbillLineType": lines["line_type"],
    }


def _charges(lines: pa.Table) -> dict[str, pa.Array]:
    """Line type, kind and entry type come in few combinations; each is looked up once."""
    names = ("line_type", "kind", "entry_type")
    rows = zip(*(lines[name].to_pylist() for name in names), strict=True)
    told: dict[tuple[Any, ...], tuple[str, str | None, str]] = {}
    found = [told[row] if row in told else told.setdefault(row, _told(*row)) for row in rows]
    category, class_, frequency = zip(*found, strict=True)
    return {
        "category": pa.array(category, pa.string()),
        "class": pa.array(class_, pa.string()),
        "frequency": pa.array(frequency, pa.string()),
    }


def _told(line_type: str, kind: str, entry_type: str | None) -> tuple[str, str | None, str]:
    charge = charge_of(line_type, kind, entry_type)
    regular = "Recurring" if line_type in RECURRING else "Usage-Based"
    return charge.category, charge.class_, regular if kind == LineKind.usage else "One-Time"


def _ends(lines: pa.Table) -> pa.ChunkedArray:
    """Exclusive; where the vendor tells only a day, the end of that day."""
    days = pc.floor_temporal(lines["usage_start"], unit="day")
    next_days = pc.add(days, pa.scalar(timedelta(days=1), pa.duration("us")))
    return pc.coalesce(lines["usage_end"], next_days)


def _one_of(lines: pa.Table, *, reservation: str, plan: str) -> pa.ChunkedArray:
    otherwise = pc.if_else(pc.is_valid(lines["savings_plan_id"]), plan, None)
    return pc.if_else(pc.is_valid(lines["reservation_id"]), reservation, otherwise)


def _publishers(lines: pa.Table, vendor: str) -> pa.Array:
    """The vendor itself, but on lines of its marketplace, where it must be somebody else."""
    entities, sold = lines["billing_entity"].to_pylist(), lines["marketplace"].to_pylist()
    provider = PROVIDERS[vendor]
    names = {
        (entity, is_sold): _publisher(entity, is_sold, provider)
        for entity, is_sold in set(zip(entities, sold, strict=True))
    }
    return pa.array([names[pair] for pair in zip(entities, sold, strict=True)], pa.string())


def _publisher(entity: str, is_sold: bool, provider: str) -> str:
    if is_sold:
        return entity if entity and vendor_of(entity) is None else f"{provider} Marketplace"
    return entity if vendor_of(entity) == vendor_of(provider) else provider


def _tags(tags: pa.ChunkedArray) -> pa.Array:
    """One JSON object a line; many lines carry the same tags."""
    written: dict[tuple[tuple[str, str], ...], str | None] = {(): None}
    texts = []
    for pairs in tags.to_pylist():
        key = tuple(pairs)
        if key not in written:
            written[key] = json.dumps(dict(pairs), ensure_ascii=False, separators=(",", ":"))
        texts.append(written[key])
    return pa.array(texts, pa.string())


def default_name(month: str, vendor: str | None) -> str:
    return f"focus-{month}.parquet" if vendor is None else f"focus-{vendor}-{month}.parquet"
