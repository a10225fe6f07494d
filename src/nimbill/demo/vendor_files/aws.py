"""A month as AWS tells it: the legacy report with slashes or in snake_case, and CUR 2.0."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa

from nimbill.demo.vendor_files.columns import (
    By,
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
from nimbill.demo.vendor_files.months import Kind, Month
from nimbill.demo.vendor_files.products import PRODUCTS, TAG_KEYS, TAGS

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
MAP = pa.map_(pa.string(), pa.string())

# fmt: off
LINE_TYPES = {
    Kind.usage:           "Usage",
    Kind.covered:         "DiscountedUsage",
    Kind.planned:         "SavingsPlanCoveredUsage",
    Kind.negation:        "SavingsPlanNegation",
    Kind.plan_fee:        "SavingsPlanRecurringFee",
    Kind.reservation_fee: "RIFee",
    Kind.fee:             "Fee",
    Kind.credit:          "Credit",
    Kind.refund:          "Refund",
    Kind.tax:             "Tax",
    Kind.discount:        "EdpDiscount",
    Kind.marketplace:     "Usage",
}
# fmt: on

DESCRIPTIONS = {
    Kind.covered: "USD 0.0 hourly fee per Linux/UNIX, m5.large instance",
    Kind.negation: "SavingsPlanNegation used by AccountId, taken back",
    Kind.plan_fee: "1 year No Upfront Compute Savings Plan",
    Kind.reservation_fee: "USD 0.077 hourly fee per Linux/UNIX, m5.large instance",
    Kind.fee: "Registration of a domain for a year",
    Kind.credit: "AWS credit, proof of concept",
    Kind.refund: "Refund of last month",
    Kind.tax: "Tax for product code AmazonEC2",
    Kind.discount: "Enterprise discount",
    Kind.marketplace: "Hours of a scanner, AWS Marketplace",
}
RESERVED = (Kind.covered, Kind.reservation_fee)
PLANNED = (Kind.planned, Kind.negation, Kind.plan_fee)
CLUSTER = "arn:aws:ec2:ap-northeast-1"


def legacy_columns(month: Month) -> list[Column]:
    """With slashes, as the legacy report's CSV has them."""
    return [*_identity_and_bill(month), *_line_item(month), *_terms(month), *_tags()]


def snake_columns(month: Month, money: pa.DataType) -> list[Column]:
    """The same in snake_case and typed, as the legacy report's Parquet has them."""
    named = [column.named(snake(column.name)) for column in legacy_columns(month)]
    return [_typed(column, month, money) for column in named]


def cur2_columns(month: Month, money: pa.DataType, *, maps: bool) -> list[Column]:
    """One column of tags and one of product attributes; maps in Parquet, JSON in CSV."""
    plain = [column.named(snake(column.name)) for column in legacy_columns(month)]
    all_kept = snake_columns(month, money) if maps else plain
    kept = [column for column in all_kept if not column.name.startswith("resource_tags_")]
    names = [f"Account {customer[-4:]}" for customer in month.customer_ids]
    return [
        *(column for column in kept if column.name != "product_operating_system"),
        always("bill_payer_account_name", "Aozora Cloud Partners"),
        by_customer("line_item_usage_account_name", names),
        _map("product", "product", [_attributes(at) for at in range(len(PRODUCTS))], maps=maps),
        _map("resource_tags", "tags", [_marked(tags) for tags in TAGS], maps=maps),
        _map("cost_category", "always", [{}], maps=maps),
        _map("discount", "always", [{}], maps=maps),
    ]


def snake(name: str) -> str:
    """`reservation/ReservationARN` is `reservation_reservation_a_r_n`."""
    parts = re.split(r"[/:]", name)
    split = (re.sub(r"(?<!^)([A-Z])", r"_\1", part).lower() for part in parts)
    return "_".join(split)


def _identity_and_bill(month: Month) -> list[Column]:
    bill_types = {Kind.fee: "Purchase", Kind.refund: "Refund"}
    return [
        number("identity/LineItemId", "nb{}x"),
        by_hour("identity/TimeInterval", month, lambda hour: _interval(month, hour)),
        always("bill/InvoiceId", month.invoice),
        always("bill/InvoicingEntity", "Amazon Web Services, Inc."),
        by_kind("bill/BillingEntity", {Kind.marketplace: "AWS Marketplace"}, "AWS"),
        by_kind("bill/BillType", bill_types, "Anniversary"),
        always("bill/PayerAccountId", month.payer_id),
        always("bill/BillingPeriodStartDate", month.start.strftime(MOMENT)),
        always("bill/BillingPeriodEndDate", month.end.strftime(MOMENT)),
    ]


def _line_item(month: Month) -> list[Column]:
    money = pa.string()
    return [
        by_customer("lineItem/UsageAccountId", month.customer_ids),
        by_kind("lineItem/LineItemType", LINE_TYPES),
        by_hour("lineItem/UsageStartDate", month, lambda at: month.hours[at].strftime(MOMENT)),
        by_hour("lineItem/UsageEndDate", month, lambda at: _after(month, at).strftime(MOMENT)),
        by_product("lineItem/ProductCode", [product.code for product in PRODUCTS]),
        by_product("lineItem/UsageType", [product.usage_type for product in PRODUCTS]),
        by_product("lineItem/Operation", ["RunInstances" for _ in PRODUCTS]),
        by_product("lineItem/AvailabilityZone", [f"{product.region}a" for product in PRODUCTS]),
        number("lineItem/ResourceId", "i-0{}f"),
        always("lineItem/UsageAmount", "1.0000000000"),
        of_kinds("lineItem/NormalizationFactor", RESERVED, "4.0000000000"),
        always("lineItem/CurrencyCode", month.currency),
        by_product("lineItem/UnblendedRate", ["0.1240000000" for _ in PRODUCTS]),
        cost("lineItem/UnblendedCost", money),
        by_product("lineItem/BlendedRate", ["0.1240000000" for _ in PRODUCTS]),
        cost("lineItem/BlendedCost", money),
        of_products("lineItem/LineItemDescription", description),
        of_kinds("lineItem/TaxType", (Kind.tax,), "JCT"),
        always("lineItem/LegalEntity", "Amazon Web Services, Inc."),
    ]


def _terms(month: Month) -> list[Column]:
    bought = month.start.replace(month=1, day=15)  # for a year, whichever month of it this is
    ends = bought.replace(year=bought.year + 1)
    return [
        by_product("product/ProductName", [product.name for product in PRODUCTS]),
        by_product("product/instanceType", [product.instance_type for product in PRODUCTS]),
        by_product("product/operatingSystem", ["Linux" for _ in PRODUCTS]),
        by_product("product/region", [product.region for product in PRODUCTS]),
        by_product("product/regionCode", [product.region for product in PRODUCTS]),
        by_product("product/servicecode", [product.code for product in PRODUCTS]),
        by_product("product/tenancy", ["Shared" for _ in PRODUCTS]),
        by_product("pricing/unit", [product.unit for product in PRODUCTS]),
        of_kinds("pricing/LeaseContractLength", RESERVED, "1yr"),
        of_kinds("pricing/OfferingClass", RESERVED, "standard"),
        of_kinds("pricing/PurchaseOption", RESERVED, "No Upfront"),
        by_kind("pricing/term", dict.fromkeys(RESERVED, "Reserved"), "OnDemand"),
        of_kinds("reservation/EffectiveCost", (Kind.covered,), "0.0770000000"),
        of_kinds("reservation/EndTime", RESERVED, ends.strftime(MOMENT)),
        of_kinds("reservation/ModificationStatus", RESERVED, "Original"),
        of_kinds("reservation/NumberOfReservations", (Kind.reservation_fee,), "4"),
        of_kinds("reservation/StartTime", RESERVED, bought.strftime(MOMENT)),
        of_kinds("reservation/UnitsPerReservation", (Kind.reservation_fee,), "4"),
        of_kinds("reservation/UpfrontValue", (Kind.reservation_fee,), "0.0"),
        of_customers("reservation/ReservationARN", month, RESERVED, reservation),
        of_customers("savingsPlan/SavingsPlanARN", month, PLANNED, savings_plan),
        of_kinds("savingsPlan/SavingsPlanEffectiveCost", (Kind.planned,), "0.0510000000"),
    ]


def _tags() -> list[Column]:
    return [by_tags(f"resourceTags/user:{key}", lambda tags, key=key: tags.get(key))  # type: ignore[misc]
            for key in TAG_KEYS]  # fmt: skip


def description(kind: Kind, product: int) -> str:
    return DESCRIPTIONS.get(kind, PRODUCTS[product].description)


def reservation(customer: str) -> str:
    return f"{CLUSTER}:{customer}:reserved-instances/5f1e-{customer[-4:]}"


def savings_plan(customer: str) -> str:
    return f"arn:aws:savingsplans::{customer}:savingsplan/7c2d-{customer[-4:]}"


def _after(month: Month, hour: int) -> datetime:
    return month.hours[hour] + timedelta(hours=1)


def _interval(month: Month, hour: int) -> str:
    return f"{month.hours[hour].strftime(MOMENT)}/{_after(month, hour).strftime(MOMENT)}"


def _typed(column: Column, month: Month, money: pa.DataType) -> Column:
    """Moments are timestamps in Parquet, and costs are of whichever type the export chose."""
    if column.by == "cost":
        return replace(column, type=money)
    if column.name in ("line_item_usage_start_date", "line_item_usage_end_date"):
        shift = timedelta(hours=column.name.endswith("end_date"))
        moments = tuple((hour + shift).replace(tzinfo=None) for hour in month.hours)
        return replace(column, values=moments, type=pa.timestamp("ms"))
    if column.name in ("bill_billing_period_start_date", "bill_billing_period_end_date"):
        moment = month.start if "start" in column.name else month.end
        return replace(column, values=(moment.replace(tzinfo=None),), type=pa.timestamp("ms"))
    return column


def _attributes(product: int) -> dict[str, str]:
    of = PRODUCTS[product]
    return {"product_name": of.name, "operating_system": "Linux", "region": of.region}


def _marked(tags: dict[str, str]) -> dict[str, str]:
    return {f"user_{key}": value for key, value in tags.items()}


def _map(name: str, by: By, values: list[dict[str, str]], *, maps: bool) -> Column:
    if maps:
        return Column(name, by, tuple(list(one.items()) for one in values), MAP)
    return Column(name, by, tuple(json.dumps(one, ensure_ascii=False) for one in values))
