"""A month as FOCUS 1.0, 1.1 and 1.2 tell it, whichever vendor it is of."""

from __future__ import annotations

import json
from datetime import timedelta
from types import ModuleType

import pyarrow as pa

from nimbill.demo.vendor_files import aws, azure
from nimbill.demo.vendor_files.columns import (
    Column,
    always,
    by_customer,
    by_hour,
    by_kind,
    by_product,
    by_tags,
    cost,
    number,
    of_customers,
    of_products,
)
from nimbill.demo.vendor_files.months import Kind, Month
from nimbill.demo.vendor_files.products import PRODUCTS

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
VERSIONS = ("1.0", "1.1", "1.2")

# fmt: off
CATEGORIES = {
    Kind.usage:           "Usage",
    Kind.covered:         "Usage",
    Kind.planned:         "Usage",
    Kind.negation:        "Usage",
    Kind.plan_fee:        "Purchase",
    Kind.reservation_fee: "Purchase",
    Kind.fee:             "Purchase",
    Kind.credit:          "Credit",
    Kind.refund:          "Adjustment",
    Kind.tax:             "Tax",
    Kind.discount:        "Credit",
    Kind.marketplace:     "Usage",
}
NAMES = {
    "aws":   ("AWS", "Amazon Web Services, Inc.", "Amazon Web Services, Inc."),
    "azure": ("Microsoft", "Microsoft", "Microsoft Corporation"),
}
# fmt: on

COMMITTED = (Kind.covered, Kind.planned, Kind.negation, Kind.plan_fee, Kind.reservation_fee)
VENDOR_FILES: dict[str, ModuleType] = {"aws": aws, "azure": azure}


def focus_columns(month: Month, version: str, money: pa.DataType) -> list[Column]:
    """In the order of their names, as the standard lists them."""
    columns = [
        *_parties(month),
        *_charge(month),
        *(cost(name, money) for name in ("BilledCost", "ContractedCost", "ListCost")),
        cost("EffectiveCost", money),
        *_service(month),
        *_commitment(month),
    ]
    if version in ("1.1", "1.2"):
        columns += _since_1_1(month)
    if version == "1.2":
        columns += _since_1_2(month)
    return sorted(columns, key=lambda column: column.name)


def _parties(month: Month) -> list[Column]:
    provider, publisher, issuer = NAMES[month.vendor]
    payer, customers = month.payer_id, month.customer_ids
    if month.vendor == "azure":
        payer = f"/providers/Microsoft.Billing/billingAccounts/{payer}"
        customers = tuple(f"/subscriptions/{customer}" for customer in customers)
    return [
        always("BillingAccountId", payer),
        always("BillingAccountName", "Aozora Cloud Partners"),
        always("BillingCurrency", month.currency),
        always("BillingPeriodStart", month.start.strftime(MOMENT)),
        always("BillingPeriodEnd", month.end.strftime(MOMENT)),
        always("InvoiceIssuerName", issuer),
        always("ProviderName", provider),
        by_kind("PublisherName", {Kind.marketplace: "Scanner Works"}, publisher),
        by_customer("SubAccountId", customers),
        by_customer("SubAccountName", [f"Account {c[-4:]}" for c in month.customer_ids]),
    ]


def _charge(month: Month) -> list[Column]:
    frequency = dict.fromkeys((Kind.plan_fee, Kind.reservation_fee), "Recurring")
    frequency |= dict.fromkeys((Kind.fee, Kind.credit, Kind.refund, Kind.tax), "One-Time")
    hour = timedelta(hours=1)
    return [
        by_kind("ChargeCategory", CATEGORIES),
        always("ChargeClass", None),
        of_products("ChargeDescription", VENDOR_FILES[month.vendor].description),
        by_kind("ChargeFrequency", frequency, "Usage-Based"),
        by_hour("ChargePeriodStart", month, lambda at: month.hours[at].strftime(MOMENT)),
        by_hour("ChargePeriodEnd", month, lambda at: (month.hours[at] + hour).strftime(MOMENT)),
        always("ConsumedQuantity", "1"),
        by_product("ConsumedUnit", [product.unit for product in PRODUCTS]),
        always("PricingCategory", "Standard"),
        always("PricingQuantity", "1"),
        by_product("PricingUnit", [product.unit for product in PRODUCTS]),
        always("ContractedUnitPrice", "0.124"),
        always("ListUnitPrice", "0.124"),
    ]


def _service(month: Month) -> list[Column]:
    regions = [product.region for product in PRODUCTS]
    names = [product.name for product in PRODUCTS]
    if month.vendor == "azure":
        regions = ["japaneast" for _ in PRODUCTS]
        names = [azure.meter(at)[0] for at in range(len(PRODUCTS))]
    return [
        always("AvailabilityZone", None),
        by_product("RegionId", regions),
        by_product("RegionName", regions),
        number("ResourceId", "resource-{}"),
        always("ResourceName", None),
        always("ResourceType", None),
        by_product("ServiceCategory", [product.category for product in PRODUCTS]),
        by_product("ServiceName", names),
        by_product("SkuId", [product.usage_type for product in PRODUCTS]),
        by_product("SkuPriceId", [f"{product.usage_type}.1" for product in PRODUCTS]),
        by_tags("Tags", lambda tags: json.dumps(tags, ensure_ascii=False) if tags else None),
    ]


def _commitment(month: Month) -> list[Column]:
    files = VENDOR_FILES[month.vendor]
    reserved = of_customers("CommitmentDiscountId", month, files.RESERVED, files.reservation)
    planned = of_customers("CommitmentDiscountId", month, files.PLANNED, files.savings_plan)
    either = tuple(a or b for a, b in zip(reserved.values, planned.values, strict=True))
    category = dict.fromkeys(files.RESERVED, "Usage") | dict.fromkeys(files.PLANNED, "Spend")
    used = dict.fromkeys((Kind.covered, Kind.planned, Kind.negation), "Used")
    kinds = dict.fromkeys(files.RESERVED, "Reserved") | dict.fromkeys(files.PLANNED, "Savings Plan")
    return [
        Column("CommitmentDiscountId", "kind customer", either),
        by_kind("CommitmentDiscountCategory", category),
        by_kind("CommitmentDiscountName", category),
        by_kind("CommitmentDiscountStatus", used),
        by_kind("CommitmentDiscountType", kinds),
    ]


def _since_1_1(month: Month) -> list[Column]:
    return [
        always("CapacityReservationId", None),
        always("CapacityReservationStatus", None),
        by_kind("CommitmentDiscountQuantity", dict.fromkeys(COMMITTED, "1")),
        by_kind("CommitmentDiscountUnit", dict.fromkeys(COMMITTED, "Hours")),
        by_product("ServiceSubcategory", [f"Other ({one.category})" for one in PRODUCTS]),
        by_product("SkuMeter", [product.usage_type for product in PRODUCTS]),
        always("SkuPriceDetails", json.dumps({"Currency": month.currency})),
    ]


def _since_1_2(month: Month) -> list[Column]:
    return [
        always("BillingAccountType", "Billing Account"),
        always("InvoiceId", month.invoice),
        always("PricingCurrency", month.currency),
        always("PricingCurrencyContractedUnitPrice", "0.124"),
        always("PricingCurrencyEffectiveCost", "0.124"),
        always("PricingCurrencyListUnitPrice", "0.124"),
        always("SubAccountType", "Account"),
    ]
