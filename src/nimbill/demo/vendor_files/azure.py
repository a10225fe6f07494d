"""A month as Azure's cost exports tell it, with the headers of an EA and of an MCA."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

import pyarrow as pa

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
    of_kinds,
    of_products,
)
from nimbill.demo.vendor_files.months import Kind, Month, invented_uuid
from nimbill.demo.vendor_files.products import PRODUCTS

DATE = "%m/%d/%Y"

# fmt: off
CHARGE_TYPES = {
    Kind.usage:           "Usage",
    Kind.covered:         "Usage",
    Kind.planned:         "Usage",
    Kind.negation:        "Usage",
    Kind.plan_fee:        "Purchase",
    Kind.reservation_fee: "Purchase",
    Kind.fee:             "Purchase",
    Kind.credit:          "Credit",
    Kind.refund:          "Refund",
    Kind.tax:             "Tax",
    Kind.discount:        "Credit",
    Kind.marketplace:     "Usage",
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

RESERVED = (Kind.covered, Kind.reservation_fee)
PLANNED = (Kind.planned, Kind.negation, Kind.plan_fee)


def ea_columns(month: Month, money: pa.DataType) -> list[Column]:
    """An enterprise agreement: no invoice, `Cost`, and tags without their braces."""
    return [
        *_account(month, ("BillingAccountId", "BillingAccountName", "SubscriptionId")),
        *_period(month, ("BillingPeriodStartDate", "BillingPeriodEndDate", "Date")),
        *_meter(product="Product"),
        cost("Cost", money),
        always("BillingCurrency", month.currency),
        *_rest(month),
        by_tags("Tags", lambda tags: _json(tags)[1:-1] if tags else ""),
    ]


def mca_columns(month: Month, money: pa.DataType) -> list[Column]:
    """A customer agreement: names begin small or large as they please, and there is an invoice."""
    return [
        always("invoiceId", month.invoice),
        always("previousInvoiceId", ""),
        *_account(month, ("billingAccountId", "billingAccountName", "SubscriptionId")),
        *_period(month, ("billingPeriodStartDate", "billingPeriodEndDate", "date")),
        *_meter(product="ProductName"),
        cost("costInBillingCurrency", money),
        always("billingCurrency", month.currency),
        *_rest(month),
        by_tags("tags", lambda tags: _json(tags) if tags else ""),
    ]


def meter(product: int) -> tuple[str, str, str]:
    """Category, name and service of what Azure charges for where AWS charges for that product."""
    return METERS[PRODUCTS[product].code]


def reservation(customer: str) -> str:
    return invented_uuid(f"reservation {customer}")


def savings_plan(customer: str) -> str:
    return invented_uuid(f"savings plan {customer}")


def description(kind: Kind, product: int) -> str:
    category, name, _ = meter(product)
    if kind in (Kind.usage, Kind.covered, Kind.planned, Kind.negation, Kind.marketplace):
        return f"{category}, {name} - Japan East"
    return f"{category} - {kind.name.replace('_', ' ')}"


def _account(month: Month, names: tuple[str, str, str]) -> list[Column]:
    return [
        always(names[0], month.payer_id),
        always(names[1], "Aozora Cloud Partners"),
        by_customer(names[2], month.customer_ids),
        by_customer("SubscriptionName", [f"Subscription {c[:4]}" for c in month.customer_ids]),
    ]


def _period(month: Month, names: tuple[str, str, str]) -> list[Column]:
    last = month.end - timedelta(days=1)  # these periods include their last day
    return [
        always(names[0], month.start.strftime(DATE)),
        always(names[1], last.strftime(DATE)),
        by_hour(names[2], month, lambda at: month.hours[at].strftime(DATE)),
    ]


def _meter(product: str) -> list[Column]:
    meters = [meter(at) for at in range(len(PRODUCTS))]
    return [
        of_products(product, description),
        by_product("MeterCategory", [category for category, _, _ in meters]),
        by_product("MeterName", [name for _, name, _ in meters]),
        by_product("ConsumedService", [service for _, _, service in meters]),
        by_product("MeterRegion", ["Japan East" for _ in meters]),
        always("Quantity", "1"),
        always("EffectivePrice", "0.124"),
    ]


def _rest(month: Month) -> list[Column]:
    models = dict.fromkeys(RESERVED, "Reservation") | dict.fromkeys(PLANNED, "SavingsPlan")
    return [
        by_product("ResourceLocation", ["japaneast" for _ in PRODUCTS]),
        number("ResourceId", "/subscriptions/x/resourceGroups/shop/providers/vm-{}"),
        by_kind("ChargeType", CHARGE_TYPES),
        by_kind("PublisherType", {Kind.marketplace: "Marketplace"}, "Azure"),
        by_kind("PublisherName", {Kind.marketplace: "Scanner Works"}, "Microsoft"),
        by_kind("PricingModel", models, "OnDemand"),
        of_kinds("Term", RESERVED, "12"),
        of_customers("ReservationId", month, RESERVED, reservation),
        of_customers("benefitId", month, PLANNED, savings_plan),
    ]


def _json(tags: Mapping[str, str]) -> str:
    return json.dumps(tags, ensure_ascii=False)
