"""Columns of FOCUS 1.0, 1.1 and 1.2 exports, for AWS and Azure."""

from __future__ import annotations

import json
from datetime import timedelta
from types import ModuleType

import pyarrow as pa

from nimbill.demo.vendor_files import aws, azure
from nimbill.demo.vendor_files.charges import (
    RESERVATION_KINDS,
    ChargeKind,
    SyntheticMonth,
)
from nimbill.demo.vendor_files.columns import (
    FileColumn,
    by_customer,
    by_hour,
    by_kind,
    by_kind_and_customer,
    by_kind_and_product,
    by_product,
    by_tags,
    constant,
    cost,
    format_timestamp,
    line_number,
    on_kinds,
)
from nimbill.demo.vendor_files.products import PRODUCTS

ONE_HOUR = timedelta(hours=1)

# fmt: off
CHARGE_CATEGORIES = {
    ChargeKind.usage:                  "Usage",
    ChargeKind.reserved_usage:         "Usage",
    ChargeKind.savings_plan_usage:     "Usage",
    ChargeKind.savings_plan_negation:  "Usage",
    ChargeKind.plan_fee:               "Purchase",
    ChargeKind.reservation_fee:        "Purchase",
    ChargeKind.fee:                    "Purchase",
    ChargeKind.credit:                 "Credit",
    ChargeKind.refund:                 "Adjustment",
    ChargeKind.tax:                    "Tax",
    ChargeKind.discount:               "Credit",
    ChargeKind.marketplace:            "Usage",
}
PARTY_NAMES = {  # provider, publisher, invoice issuer
    "aws":   ("AWS", "Amazon Web Services, Inc.", "Amazon Web Services, Inc."),
    "azure": ("Microsoft", "Microsoft", "Microsoft Corporation"),
}
# fmt: on

# FOCUS shows no price of covered usage: lines of savings plans are written as ordinary usage
COVERED_USAGE_KINDS = (ChargeKind.reserved_usage,)
SAVINGS_PLAN_KINDS = (ChargeKind.plan_fee,)
COMMITMENT_KINDS = (*RESERVATION_KINDS, *SAVINGS_PLAN_KINDS)
VENDOR_COLUMNS: dict[str, ModuleType] = {"aws": aws, "azure": azure}


def focus_columns(month: SyntheticMonth, version: str, money: pa.DataType) -> list[FileColumn]:
    """Columns are sorted by name, as the standard lists them."""
    columns = [
        *_party_columns(month),
        *_charge_columns(month),
        *(cost(name, money) for name in ("BilledCost", "ContractedCost", "ListCost")),
        cost("EffectiveCost", money),
        *_service_columns(month),
        *_commitment_columns(month),
    ]
    if version in ("1.1", "1.2"):
        columns += _columns_since_1_1(month)
    if version == "1.2":
        columns += _columns_since_1_2(month)
    return sorted(columns, key=lambda column: column.name)


def _party_columns(month: SyntheticMonth) -> list[FileColumn]:
    provider, publisher, issuer = PARTY_NAMES[month.vendor]
    payer, customers = month.payer_id, month.customer_ids
    if month.vendor == "azure":
        payer = f"/providers/Microsoft.Billing/billingAccounts/{payer}"
        customers = tuple(f"/subscriptions/{customer}" for customer in customers)
    return [
        constant("BillingAccountId", payer),
        constant("BillingAccountName", "Aozora Cloud Partners"),
        constant("BillingCurrency", month.currency),
        constant("BillingPeriodStart", format_timestamp(month.start)),
        constant("BillingPeriodEnd", format_timestamp(month.end)),
        constant("InvoiceIssuerName", issuer),
        constant("ProviderName", provider),
        by_kind("PublisherName", {ChargeKind.marketplace: "Scanner Works"}, publisher),
        by_customer("SubAccountId", customers),
        by_customer(
            "SubAccountName", [f"Account {customer[-4:]}" for customer in month.customer_ids]
        ),
    ]


def _charge_columns(month: SyntheticMonth) -> list[FileColumn]:
    frequency = dict.fromkeys((ChargeKind.plan_fee, ChargeKind.reservation_fee), "Recurring")
    frequency |= dict.fromkeys(
        (ChargeKind.fee, ChargeKind.credit, ChargeKind.refund, ChargeKind.tax), "One-Time"
    )
    return [
        by_kind("ChargeCategory", CHARGE_CATEGORIES),
        constant("ChargeClass", None),
        by_kind_and_product("ChargeDescription", VENDOR_COLUMNS[month.vendor].charge_description),
        by_kind("ChargeFrequency", frequency, "Usage-Based"),
        by_hour("ChargePeriodStart", month, lambda hour: format_timestamp(month.hours[hour])),
        by_hour(
            "ChargePeriodEnd", month, lambda hour: format_timestamp(month.hours[hour] + ONE_HOUR)
        ),
        constant("ConsumedQuantity", "1"),
        by_product("ConsumedUnit", [product.unit for product in PRODUCTS]),
        constant("PricingCategory", "Standard"),
        constant("PricingQuantity", "1"),
        by_product("PricingUnit", [product.unit for product in PRODUCTS]),
        constant("ContractedUnitPrice", "0.124"),
        constant("ListUnitPrice", "0.124"),
    ]


def _service_columns(month: SyntheticMonth) -> list[FileColumn]:
    regions = [product.region for product in PRODUCTS]
    names = [product.name for product in PRODUCTS]
    if month.vendor == "azure":
        regions = ["japaneast" for _ in PRODUCTS]
        names = [azure.meter_names(product)[0] for product in PRODUCTS]
    return [
        constant("AvailabilityZone", None),
        by_product("RegionId", regions),
        by_product("RegionName", regions),
        line_number("ResourceId", "resource-{}"),
        constant("ResourceName", None),
        constant("ResourceType", None),
        by_product("ServiceCategory", [product.category for product in PRODUCTS]),
        by_product("ServiceName", names),
        by_product("SkuId", [product.usage_type for product in PRODUCTS]),
        by_product("SkuPriceId", [f"{product.usage_type}.1" for product in PRODUCTS]),
        by_tags("Tags", lambda tags: json.dumps(tags, ensure_ascii=False) if tags else None),
    ]


def _commitment_columns(month: SyntheticMonth) -> list[FileColumn]:
    vendor = VENDOR_COLUMNS[month.vendor]
    reservations = by_kind_and_customer(
        "CommitmentDiscountId", month, RESERVATION_KINDS, vendor.reservation_id
    )
    savings_plans = by_kind_and_customer(
        "CommitmentDiscountId", month, SAVINGS_PLAN_KINDS, vendor.savings_plan_id
    )
    ids = tuple(a or b for a, b in zip(reservations.values, savings_plans.values, strict=True))
    category = dict.fromkeys(RESERVATION_KINDS, "Usage") | dict.fromkeys(
        SAVINGS_PLAN_KINDS, "Spend"
    )
    discount_type = dict.fromkeys(RESERVATION_KINDS, "Reserved") | dict.fromkeys(
        SAVINGS_PLAN_KINDS, "Savings Plan"
    )
    return [
        FileColumn("CommitmentDiscountId", "kind customer", ids),
        by_kind("CommitmentDiscountCategory", category),
        by_kind("CommitmentDiscountName", category),
        on_kinds("CommitmentDiscountStatus", COVERED_USAGE_KINDS, "Used"),
        by_kind("CommitmentDiscountType", discount_type),
    ]


def _columns_since_1_1(month: SyntheticMonth) -> list[FileColumn]:
    return [
        constant("CapacityReservationId", None),
        constant("CapacityReservationStatus", None),
        on_kinds("CommitmentDiscountQuantity", COMMITMENT_KINDS, "1"),
        on_kinds("CommitmentDiscountUnit", COMMITMENT_KINDS, "Hours"),
        by_product("ServiceSubcategory", [f"Other ({product.category})" for product in PRODUCTS]),
        by_product("SkuMeter", [product.usage_type for product in PRODUCTS]),
        constant("SkuPriceDetails", json.dumps({"Currency": month.currency})),
    ]


def _columns_since_1_2(month: SyntheticMonth) -> list[FileColumn]:
    return [
        constant("BillingAccountType", "Billing Account"),
        constant("InvoiceId", month.invoice),
        constant("PricingCurrency", month.currency),
        constant("PricingCurrencyContractedUnitPrice", "0.124"),
        constant("PricingCurrencyEffectiveCost", "0.124"),
        constant("PricingCurrencyListUnitPrice", "0.124"),
        constant("SubAccountType", "Account"),
    ]
