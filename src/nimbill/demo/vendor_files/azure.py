"""Columns of Azure cost exports for enterprise (EA) and customer agreements (MCA)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

import pyarrow as pa

from nimbill.demo.vendor_files.charges import (
    RESERVATION_KINDS,
    ChargeKind,
    SyntheticMonth,
    derive_uuid,
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
    line_number,
    on_kinds,
)
from nimbill.demo.vendor_files.products import PRODUCTS, CloudProduct

DATE_FORMAT = "%m/%d/%Y"

# fmt: off
CHARGE_TYPES = {
    ChargeKind.usage:                  "Usage",
    ChargeKind.reserved_usage:         "Usage",
    ChargeKind.savings_plan_usage:     "Usage",
    ChargeKind.savings_plan_negation:  "Usage",
    ChargeKind.plan_fee:               "Purchase",
    ChargeKind.reservation_fee:        "Purchase",
    ChargeKind.fee:                    "Purchase",
    ChargeKind.credit:                 "Credit",
    ChargeKind.refund:                 "Refund",
    ChargeKind.tax:                    "Tax",
    ChargeKind.discount:               "Credit",
    ChargeKind.marketplace:            "Usage",
}
METERS = {
    "AmazonEC2":        ("Virtual Machines", "D2 v5", "Microsoft.Compute"),
    "AmazonS3":         ("Storage", "Hot LRS Data Stored", "Microsoft.Storage"),
    "AmazonRDS":        ("Azure Database for PostgreSQL", "vCore", "Microsoft.DBforPostgreSQL"),
    "AWSLambda":        ("Functions", "Standard Execution Time", "Microsoft.Web"),
    "AmazonCloudWatch": ("Log Analytics", "Data Ingestion", "Microsoft.OperationalInsights"),
    "AmazonDynamoDB":   ("Azure Cosmos DB", "100 RU/s", "Microsoft.DocumentDB"),
}
# fmt: on


def ea_columns(month: SyntheticMonth, money: pa.DataType) -> list[FileColumn]:
    """An EA export has no invoice number, a `Cost` column, and tags without braces."""
    return [
        *_account_columns(month, ("BillingAccountId", "BillingAccountName", "SubscriptionId")),
        *_period_columns(month, ("BillingPeriodStartDate", "BillingPeriodEndDate", "Date")),
        *_meter_columns("Product"),
        cost("Cost", money),
        constant("BillingCurrency", month.currency),
        *_charge_columns(month),
        by_tags("Tags", lambda tags: _to_json(tags)[1:-1] if tags else ""),
    ]


def mca_columns(month: SyntheticMonth, money: pa.DataType) -> list[FileColumn]:
    """An MCA export has an invoice number; its column names mix upper and lower first letters."""
    return [
        constant("invoiceId", month.invoice),
        constant("previousInvoiceId", ""),
        *_account_columns(month, ("billingAccountId", "billingAccountName", "SubscriptionId")),
        *_period_columns(month, ("billingPeriodStartDate", "billingPeriodEndDate", "date")),
        *_meter_columns("ProductName"),
        cost("costInBillingCurrency", money),
        constant("billingCurrency", month.currency),
        *_charge_columns(month),
        by_tags("tags", lambda tags: _to_json(tags) if tags else ""),
    ]


def meter_names(product: CloudProduct) -> tuple[str, str, str]:
    """Category, meter and service of the Azure product that matches an AWS product."""
    return METERS[product.code]


def reservation_id(customer: str) -> str:
    return derive_uuid(f"reservation {customer}")


def savings_plan_id(customer: str) -> str:
    return derive_uuid(f"savings plan {customer}")


def charge_description(kind: ChargeKind, product: int) -> str:
    category, name, _ = meter_names(PRODUCTS[product])
    if kind in (
        ChargeKind.usage,
        ChargeKind.reserved_usage,
        ChargeKind.savings_plan_usage,
        ChargeKind.savings_plan_negation,
        ChargeKind.marketplace,
    ):
        return f"{category}, {name} - Japan East"
    return f"{category} - {kind.name.replace('_', ' ')}"


def _account_columns(month: SyntheticMonth, names: tuple[str, str, str]) -> list[FileColumn]:
    return [
        constant(names[0], month.payer_id),
        constant(names[1], "Aozora Cloud Partners"),
        by_customer(names[2], month.customer_ids),
        by_customer(
            "SubscriptionName", [f"Subscription {customer[:4]}" for customer in month.customer_ids]
        ),
    ]


def _period_columns(month: SyntheticMonth, names: tuple[str, str, str]) -> list[FileColumn]:
    last_day = month.end - timedelta(days=1)  # Azure periods include the last day
    return [
        constant(names[0], month.start.strftime(DATE_FORMAT)),
        constant(names[1], last_day.strftime(DATE_FORMAT)),
        by_hour(names[2], month, lambda hour: month.hours[hour].strftime(DATE_FORMAT)),
    ]


def _meter_columns(product_column: str) -> list[FileColumn]:
    meters = [meter_names(product) for product in PRODUCTS]
    return [
        by_kind_and_product(product_column, charge_description),
        by_product("MeterCategory", [category for category, _, _ in meters]),
        by_product("MeterName", [name for _, name, _ in meters]),
        by_product("ConsumedService", [service for _, _, service in meters]),
        by_product("MeterRegion", ["Japan East" for _ in meters]),
        constant("Quantity", "1"),
        constant("EffectivePrice", "0.124"),
    ]


def _charge_columns(month: SyntheticMonth) -> list[FileColumn]:
    """Azure shows no price of covered usage: lines of savings plans are written as on demand."""
    pricing_models = dict.fromkeys(RESERVATION_KINDS, "Reservation")
    pricing_models |= {ChargeKind.plan_fee: "SavingsPlan"}
    return [
        by_product("ResourceLocation", ["japaneast" for _ in PRODUCTS]),
        line_number("ResourceId", "/subscriptions/x/resourceGroups/shop/providers/vm-{}"),
        by_kind("ChargeType", CHARGE_TYPES),
        by_kind("PublisherType", {ChargeKind.marketplace: "Marketplace"}, "Azure"),
        by_kind("PublisherName", {ChargeKind.marketplace: "Scanner Works"}, "Microsoft"),
        by_kind("PricingModel", pricing_models, "OnDemand"),
        on_kinds("Term", RESERVATION_KINDS, "12"),
        by_kind_and_customer("ReservationId", month, RESERVATION_KINDS, reservation_id),
        by_kind_and_customer("benefitId", month, (ChargeKind.plan_fee,), savings_plan_id),
    ]


def _to_json(tags: Mapping[str, str]) -> str:
    return json.dumps(tags, ensure_ascii=False)
