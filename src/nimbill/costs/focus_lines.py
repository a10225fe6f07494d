"""Converts cost lines of any vendor to the lines of a FOCUS Cost and Usage file."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.focus_charges import FocusCharges, classify_charges
from nimbill.costs.focus_columns import (
    COLUMNS_BY_VERSION,
    OWN_COLUMNS,
    FocusVersion,
    build_schema,
    build_table,
)
from nimbill.costs.focus_names import name_sub_account_type, next_month_start
from nimbill.costs.focus_pricing import ZERO, map_pricing_columns
from nimbill.costs.formats.focus import find_vendor
from nimbill.foundation.calendar_month import month_start
from nimbill.foundation.vendor_names import NO_NAMES, ProviderNames, name_provider

# See docs/choices.md, focus-export.

SCHEMAS = {
    version: build_schema({**columns, **OWN_COLUMNS})
    for version, columns in COLUMNS_BY_VERSION.items()
}


def convert_to_focus(
    lines: pa.Table,
    vendor: str,
    month: str,
    version: FocusVersion,
    provider_names: ProviderNames = NO_NAMES,
) -> pa.Table:
    columns = _map_columns(lines, vendor, name_provider(vendor, provider_names), month)
    if version == FocusVersion.v1_4:
        _leave_out_incomplete_sku_prices(columns)
    return build_table(SCHEMAS[version], columns, len(lines))


def _leave_out_incomplete_sku_prices(columns: dict[str, Any]) -> None:
    """In version 1.4 a SKU price must have both unit prices."""
    has_prices = pc.and_(
        pc.is_valid(columns["ListUnitPrice"]), pc.is_valid(columns["ContractedUnitPrice"])
    )
    columns["SkuPriceId"] = pc.if_else(has_prices, columns["SkuPriceId"], None)


def _map_columns(lines: pa.Table, vendor: str, provider: str, month: str) -> dict[str, Any]:
    charges = classify_charges(lines)
    return {
        **_map_accounts(lines, vendor),
        **_map_charges(lines, charges, month),
        **_map_commitments(lines, charges),
        **map_pricing_columns(lines, charges, _is_covered(lines, charges)),
        **_map_services(lines, provider),
        "x_NimbillBillingEntity": lines["billing_entity"],
        "x_NimbillEntryType": lines["entry_type"],
        "x_NimbillKind": lines["kind"],
        "x_NimbillLineType": lines["line_type"],
        "x_NimbillServiceName": lines["service_name"],
    }


def _map_accounts(lines: pa.Table, vendor: str) -> dict[str, Any]:
    customer = pc.if_else(pc.equal(lines["customer_id"], ""), None, lines["customer_id"])
    return {
        "BillingAccountId": lines["payer_id"],
        "BillingAccountName": lines["payer_name"],
        "BillingAccountType": "Billing Account",
        "BillingCurrency": lines["currency"],
        "InvoiceId": lines["invoice_id"],
        "SubAccountId": customer,
        "SubAccountName": lines["customer_name"],
        "SubAccountType": pc.if_else(pc.is_valid(customer), name_sub_account_type(vendor), None),
    }


def _map_charges(lines: pa.Table, charges: FocusCharges, month: str) -> dict[str, Any]:
    description = pc.coalesce(
        lines["description"], lines["service_name"], lines["usage_type"], lines["line_type"]
    )
    return {
        "BilledCost": lines["cost"],
        "BillingPeriodEnd": next_month_start(month),
        "BillingPeriodStart": month_start(month),
        "ChargeCategory": charges.category,
        "ChargeClass": charges.class_,
        "ChargeDescription": description,
        "ChargeFrequency": charges.frequency,
        "ChargePeriodEnd": _charge_period_ends(lines),
        "ChargePeriodStart": lines["usage_start"],
        "EffectiveCost": _effective_costs(lines, charges),
        "Tags": _format_tags(lines["tags"]),
    }


def _effective_costs(lines: pa.Table, charges: FocusCharges) -> pa.ChunkedArray:
    """A commitment's cost is that of the usage it covers: its purchase and negation have none."""
    cost = lines["cost"]
    amortised = pc.coalesce(lines["effective_cost"], cost)
    is_other = pc.is_in(charges.category, pa.array(["Tax", "Credit"]))
    has_none = pc.or_(charges.is_negation, charges.is_commitment_purchase(lines))
    return pc.if_else(has_none, ZERO, pc.if_else(is_other, cost, amortised))


def _commitment_ids(lines: pa.Table) -> pa.ChunkedArray:
    return pc.coalesce(lines["reservation_id"], lines["savings_plan_id"])


def _is_covered(lines: pa.Table, charges: FocusCharges) -> pa.ChunkedArray:
    """Usage that a commitment covers; a correction may be null there."""
    is_usage = pc.equal(charges.category, "Usage")
    return pc.and_(is_usage, pc.is_valid(_commitment_ids(lines)))


def _map_commitments(lines: pa.Table, charges: FocusCharges) -> dict[str, Any]:
    is_unused = pc.equal(lines["commitment_status"], "Unused").fill_null(False)
    status = pc.if_else(is_unused, "Unused", "Used")
    return {
        "CommitmentDiscountCategory": _by_commitment(lines, reservation="Usage", plan="Spend"),
        "CommitmentDiscountId": _commitment_ids(lines),
        "CommitmentDiscountStatus": pc.if_else(_is_covered(lines, charges), status, None),
        "CommitmentDiscountType": _by_commitment(
            lines, reservation="Reservation", plan="Savings Plan"
        ),
    }


def _map_services(lines: pa.Table, provider: str) -> dict[str, Any]:
    publishers = _publishers(lines, provider)
    category = pc.coalesce(lines["service_category"], pa.scalar("Other"))
    other = pc.binary_join_element_wise("Other (", category, ")", "")
    return {
        "AvailabilityZone": lines["zone"],
        "HostProviderName": provider,
        "InvoiceIssuerName": provider,
        "ProviderName": provider,
        "PublisherName": publishers,
        "RegionId": lines["region"],
        "RegionName": lines["region"],
        "ServiceCategory": category,
        "ServiceName": lines["service"],
        "ServiceProviderName": pc.if_else(lines["marketplace"], publishers, provider),
        "ServiceSubcategory": pc.coalesce(lines["service_subcategory"], other),
    }


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
