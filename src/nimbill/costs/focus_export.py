"""Writes a month as a FOCUS 1.2 Parquet file, whatever format the vendor delivered.

An import of this file as FOCUS gives the same sums, line types and kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.costs.focus_columns import ALL_COLUMNS, FOCUS_SCHEMA
from nimbill.costs.formats.focus import CATEGORIES, CORRECTION, find_vendor
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile
from nimbill.foundation.basis import chosen
from nimbill.foundation.calendar_month import month_end, month_start
from nimbill.foundation.fsync import fsync_path
from nimbill.foundation.vendor_names import label_vendor

basis = chosen("focus-export")

LINES_PER_BATCH = 65_536

PROVIDERS = {"aws": "AWS", "azure": "Microsoft", "gcp": "Google Cloud"}
SUB_ACCOUNT_TYPES = {"aws": "Account", "azure": "Subscription", "gcp": "Project"}
RECURRING_TYPES = ("RIFee", "SavingsPlanRecurringFee")


class FocusCharge(NamedTuple):
    """Charge category and charge class of a line in FOCUS."""

    category: str
    class_: str | None = None


CHARGES_BY_KIND = {
    LineKind.usage: FocusCharge("Usage"),
    LineKind.tax: FocusCharge("Tax"),
    LineKind.discount: FocusCharge("Credit"),
    LineKind.unknown: FocusCharge("Adjustment"),
}
CHARGES_BY_ENTRY_TYPE = {
    EntryType.fee: FocusCharge("Purchase"),
    EntryType.upfront: FocusCharge("Purchase"),
    EntryType.credit: FocusCharge("Credit"),
    EntryType.refund: FocusCharge("Usage", CORRECTION.strip()),
}


def classify_charge(line_type: str, kind: str, entry_type: str | None) -> FocusCharge:
    """Line types of FOCUS files are kept; others are mapped by their kind and entry type."""
    category = line_type.removesuffix(CORRECTION)
    if category in CATEGORIES:
        return FocusCharge(category, CORRECTION.strip() if category != line_type else None)
    if kind == LineKind.entry:
        return CHARGES_BY_ENTRY_TYPE[EntryType(entry_type or EntryType.fee)]
    return CHARGES_BY_KIND[LineKind(kind)]


def write_focus_file(
    lake: Lake,
    files: Sequence[CurrentLakeFile],
    month: str,
    output: Path,
    provider_names: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Return the number of lines; an existing file is replaced only by a complete one.

    `provider_names` are those of the settings, for vendors that are not known here.
    """
    partial = output.with_name(f".{output.name}.part")
    try:
        lines = 0
        with pq.ParquetWriter(partial, FOCUS_SCHEMA, compression="zstd") as writer:
            for table in _read_focus_tables(lake, files, month, provider_names or {}):
                writer.write_table(table)
                lines += len(table)
        fsync_path(partial)
        partial.replace(output)
        fsync_path(output.parent)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    return lines


def _read_focus_tables(
    lake: Lake,
    files: Sequence[CurrentLakeFile],
    month: str,
    provider_names: Mapping[str, Sequence[str]],
) -> Iterator[pa.Table]:
    for file in files:
        provider = PROVIDERS.get(file.vendor) or label_vendor(file.vendor, provider_names)
        is_current = pc.field("payer_id").isin(sorted(file.payers))
        dataset = lake.open_dataset([file.path])
        scanner = dataset.scanner(filter=is_current, batch_size=LINES_PER_BATCH)
        for batch in scanner.to_batches():
            if len(batch):
                lines = pa.Table.from_batches([batch])
                yield _convert_to_focus(lines, file.vendor, provider, month)


def _convert_to_focus(lines: pa.Table, vendor: str, provider: str, month: str) -> pa.Table:
    columns = _map_columns(lines, vendor, provider, month)
    arrays = [
        _build_column(columns.get(name), column.type, len(lines))
        for name, column in ALL_COLUMNS.items()
    ]
    return pa.Table.from_arrays(arrays, schema=FOCUS_SCHEMA)


def _build_column(value: Any, type_: pa.DataType, count: int) -> Any:
    """`value` is an array, one value for all lines, or None."""
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value.cast(type_)
    return pa.nulls(count, type_) if value is None else pa.repeat(pa.scalar(value, type_), count)


def _map_columns(lines: pa.Table, vendor: str, provider: str, month: str) -> dict[str, Any]:
    cost = lines["cost"]
    sub_account_type = SUB_ACCOUNT_TYPES.get(vendor, "Account")
    commitment = pc.coalesce(lines["reservation_id"], lines["savings_plan_id"])
    is_used = pc.and_(pc.equal(lines["kind"], LineKind.usage.value), pc.is_valid(commitment))
    customer = pc.if_else(pc.equal(lines["customer_id"], ""), None, lines["customer_id"])
    charges = _classify_charges(lines)
    return {
        "AvailabilityZone": lines["zone"],
        "BilledCost": cost,
        "BillingAccountId": lines["payer_id"],
        "BillingAccountType": "Billing Account",
        "BillingCurrency": lines["currency"],
        "BillingPeriodEnd": month_end(month) + timedelta(microseconds=1),
        "BillingPeriodStart": month_start(month),
        "ChargeCategory": charges["category"],
        "ChargeClass": charges["class"],
        "ChargeDescription": lines["description"],
        "ChargeFrequency": charges["frequency"],
        "ChargePeriodEnd": _charge_period_ends(lines),
        "ChargePeriodStart": lines["usage_start"],
        "CommitmentDiscountCategory": _by_commitment(lines, reservation="Usage", plan="Spend"),
        "CommitmentDiscountId": commitment,
        "CommitmentDiscountStatus": pc.if_else(is_used, "Used", None),
        "CommitmentDiscountType": _by_commitment(
            lines, reservation="Reservation", plan="Savings Plan"
        ),
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
        "PublisherName": _publishers(lines, provider),
        "RegionId": lines["region"],
        "RegionName": lines["region"],
        "ServiceCategory": "Other",
        "ServiceName": lines["service"],
        "ServiceSubcategory": "Other (Other)",
        "SkuMeter": lines["usage_type"],
        "SubAccountId": customer,
        "SubAccountName": lines["customer_name"],
        "SubAccountType": pc.if_else(pc.is_valid(customer), sub_account_type, None),
        "Tags": _format_tags(lines["tags"]),
        "x_NimbillBillingEntity": lines["billing_entity"],
        "x_NimbillEntryType": lines["entry_type"],
        "x_NimbillKind": lines["kind"],
        "x_NimbillLineType": lines["line_type"],
        "x_NimbillServiceName": lines["service_name"],
    }


def _classify_charges(lines: pa.Table) -> dict[str, pa.Array]:
    """There are few combinations of line type, kind and entry type; classify each once."""
    names = ("line_type", "kind", "entry_type")
    rows = zip(*(lines[name].to_pylist() for name in names), strict=True)
    cache: dict[tuple[Any, ...], tuple[str, str | None, str]] = {}
    charges = [
        cache[row] if row in cache else cache.setdefault(row, _classify_with_frequency(*row))
        for row in rows
    ]
    category, class_, frequency = zip(*charges, strict=True)
    return {
        "category": pa.array(category, pa.string()),
        "class": pa.array(class_, pa.string()),
        "frequency": pa.array(frequency, pa.string()),
    }


def _classify_with_frequency(
    line_type: str, kind: str, entry_type: str | None
) -> tuple[str, str | None, str]:
    charge = classify_charge(line_type, kind, entry_type)
    usage_frequency = "Recurring" if line_type in RECURRING_TYPES else "Usage-Based"
    frequency = usage_frequency if kind == LineKind.usage else "One-Time"
    return charge.category, charge.class_, frequency


def _charge_period_ends(lines: pa.Table) -> pa.ChunkedArray:
    """Exclusive; the end of the day if the vendor names only a day."""
    days = pc.floor_temporal(lines["usage_start"], unit="day")
    next_days = pc.add(days, pa.scalar(timedelta(days=1), pa.duration("us")))
    return pc.coalesce(lines["usage_end"], next_days)


def _by_commitment(lines: pa.Table, *, reservation: str, plan: str) -> pa.ChunkedArray:
    plan_or_null = pc.if_else(pc.is_valid(lines["savings_plan_id"]), plan, None)
    return pc.if_else(pc.is_valid(lines["reservation_id"]), reservation, plan_or_null)


def _publishers(lines: pa.Table, provider: str) -> pa.Array:
    """The vendor itself, except on marketplace lines, where it must be another name."""
    entities, marketplace = lines["billing_entity"].to_pylist(), lines["marketplace"].to_pylist()
    names = {
        (entity, is_marketplace): _publisher(entity, is_marketplace, provider)
        for entity, is_marketplace in set(zip(entities, marketplace, strict=True))
    }
    return pa.array([names[pair] for pair in zip(entities, marketplace, strict=True)], pa.string())


def _publisher(entity: str, is_marketplace: bool, provider: str) -> str:
    if is_marketplace:
        return entity if entity and find_vendor(entity) is None else f"{provider} Marketplace"
    is_own_name = entity != "" and find_vendor(entity) == find_vendor(provider)
    return entity if is_own_name else provider


def _format_tags(tags: pa.ChunkedArray) -> pa.Array:
    """One JSON object per line; many lines have the same tags."""
    cache: dict[tuple[tuple[str, str], ...], str | None] = {(): None}
    texts = []
    for pairs in tags.to_pylist():
        key = tuple(pairs)
        if key not in cache:
            cache[key] = json.dumps(dict(pairs), ensure_ascii=False, separators=(",", ":"))
        texts.append(cache[key])
    return pa.array(texts, pa.string())


def default_file_name(month: str, vendor: str | None) -> str:
    return f"focus-{month}.parquet" if vendor is None else f"focus-{vendor}-{month}.parquet"
