"""Columns of AWS cost reports: the legacy report (slashes or snake_case) and CUR 2.0."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa

from nimbill.demo.vendor_files.charges import (
    RESERVATION_KINDS,
    SAVINGS_PLAN_KINDS,
    ChargeKind,
    SyntheticMonth,
)
from nimbill.demo.vendor_files.columns import (
    FileColumn,
    ValueKey,
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
from nimbill.demo.vendor_files.products import PRODUCTS, TAG_KEYS, TAGS, CloudProduct

TEXT_MAP = pa.map_(pa.string(), pa.string())

# fmt: off
LINE_TYPES = {
    ChargeKind.usage:                  "Usage",
    ChargeKind.reserved_usage:         "DiscountedUsage",
    ChargeKind.savings_plan_usage:     "SavingsPlanCoveredUsage",
    ChargeKind.savings_plan_negation:  "SavingsPlanNegation",
    ChargeKind.plan_fee:               "SavingsPlanRecurringFee",
    ChargeKind.reservation_fee:        "RIFee",
    ChargeKind.fee:                    "Fee",
    ChargeKind.credit:                 "Credit",
    ChargeKind.refund:                 "Refund",
    ChargeKind.tax:                    "Tax",
    ChargeKind.discount:               "EdpDiscount",
    ChargeKind.marketplace:            "Usage",
}
# fmt: on

DESCRIPTIONS = {
    ChargeKind.reserved_usage: "USD 0.0 hourly fee per Linux/UNIX, m5.large instance",
    ChargeKind.savings_plan_negation: "SavingsPlanNegation used by AccountId, taken back",
    ChargeKind.plan_fee: "1 year No Upfront Compute Savings Plan",
    ChargeKind.reservation_fee: "USD 0.077 hourly fee per Linux/UNIX, m5.large instance",
    ChargeKind.fee: "Registration of a domain for a year",
    ChargeKind.credit: "AWS credit, proof of concept",
    ChargeKind.refund: "Refund of last month",
    ChargeKind.tax: "Tax for product code AmazonEC2",
    ChargeKind.discount: "Enterprise discount",
    ChargeKind.marketplace: "Hours of a scanner, AWS Marketplace",
}
EC2_ARN_PREFIX = "arn:aws:ec2:ap-northeast-1"


def legacy_columns(month: SyntheticMonth) -> list[FileColumn]:
    """Column names with slashes, as in CSV files of the legacy report."""
    return [
        *_identity_columns(month),
        *_line_item_columns(month),
        *_pricing_columns(month),
        *_tag_columns(),
    ]


def snake_columns(month: SyntheticMonth, money: pa.DataType) -> list[FileColumn]:
    """Typed columns with snake_case names, as in Parquet files of the legacy report."""
    columns = [column.renamed_to(to_snake_case(column.name)) for column in legacy_columns(month)]
    return [_with_parquet_type(column, month, money) for column in columns]


def cur2_columns(month: SyntheticMonth, money: pa.DataType, *, maps: bool) -> list[FileColumn]:
    """CUR 2.0 has one column for all tags and one for all product attributes.

    They are maps in Parquet (`maps`) and JSON objects in CSV.
    """
    untyped = [column.renamed_to(to_snake_case(column.name)) for column in legacy_columns(month)]
    columns = snake_columns(month, money) if maps else untyped
    columns = [column for column in columns if not column.name.startswith("resource_tags_")]
    account_names = [f"Account {customer[-4:]}" for customer in month.customer_ids]
    return [
        *(column for column in columns if column.name != "product_operating_system"),
        constant("bill_payer_account_name", "Aozora Cloud Partners"),
        by_customer("line_item_usage_account_name", account_names),
        _map_column("product", "product", [_attributes(each) for each in PRODUCTS], maps=maps),
        _map_column("resource_tags", "tags", [_user_tags(tags) for tags in TAGS], maps=maps),
        _map_column("cost_category", "constant", [{}], maps=maps),
        _map_column("discount", "constant", [{}], maps=maps),
    ]


def to_snake_case(name: str) -> str:
    """AWS writes `reservation/ReservationARN` as `reservation_reservation_a_r_n`."""
    parts = re.split(r"[/:]", name)
    return "_".join(re.sub(r"(?<!^)([A-Z])", r"_\1", part).lower() for part in parts)


def _identity_columns(month: SyntheticMonth) -> list[FileColumn]:
    bill_types = {ChargeKind.fee: "Purchase", ChargeKind.refund: "Refund"}
    return [
        line_number("identity/LineItemId", "nb{}x"),
        by_hour("identity/TimeInterval", month, lambda hour: _format_interval(month, hour)),
        constant("bill/InvoiceId", month.invoice),
        constant("bill/InvoicingEntity", "Amazon Web Services, Inc."),
        by_kind("bill/BillingEntity", {ChargeKind.marketplace: "AWS Marketplace"}, "AWS"),
        by_kind("bill/BillType", bill_types, "Anniversary"),
        constant("bill/PayerAccountId", month.payer_id),
        constant("bill/BillingPeriodStartDate", format_timestamp(month.start)),
        constant("bill/BillingPeriodEndDate", format_timestamp(month.end)),
    ]


def _line_item_columns(month: SyntheticMonth) -> list[FileColumn]:
    money = pa.string()
    return [
        by_customer("lineItem/UsageAccountId", month.customer_ids),
        by_kind("lineItem/LineItemType", LINE_TYPES),
        by_hour("lineItem/UsageStartDate", month, lambda hour: format_timestamp(month.hours[hour])),
        by_hour(
            "lineItem/UsageEndDate", month, lambda hour: format_timestamp(_end_of_hour(month, hour))
        ),
        by_product("lineItem/ProductCode", [product.code for product in PRODUCTS]),
        by_product("lineItem/UsageType", [product.usage_type for product in PRODUCTS]),
        by_product("lineItem/Operation", ["RunInstances" for _ in PRODUCTS]),
        by_product("lineItem/AvailabilityZone", [f"{product.region}a" for product in PRODUCTS]),
        line_number("lineItem/ResourceId", "i-0{}f"),
        # a day of four reserved instances, and an hour of everything else
        by_kind(
            "lineItem/UsageAmount", {ChargeKind.reserved_usage: "96.0000000000"}, "1.0000000000"
        ),
        on_kinds("lineItem/NormalizationFactor", RESERVATION_KINDS, "4.0000000000"),
        constant("lineItem/CurrencyCode", month.currency),
        by_product("lineItem/UnblendedRate", ["0.1240000000" for _ in PRODUCTS]),
        cost("lineItem/UnblendedCost", money),
        by_product("lineItem/BlendedRate", ["0.1240000000" for _ in PRODUCTS]),
        cost("lineItem/BlendedCost", money),
        by_kind_and_product("lineItem/LineItemDescription", charge_description),
        on_kinds("lineItem/TaxType", (ChargeKind.tax,), "JCT"),
        constant("lineItem/LegalEntity", "Amazon Web Services, Inc."),
    ]


def _pricing_columns(month: SyntheticMonth) -> list[FileColumn]:
    # Every reservation runs for one year from 15 January of the month's year.
    starts = month.start.replace(month=1, day=15)
    ends = starts.replace(year=starts.year + 1)
    return [
        by_product("product/ProductName", [product.name for product in PRODUCTS]),
        by_product("product/instanceType", [product.instance_type for product in PRODUCTS]),
        by_product("product/operatingSystem", ["Linux" for _ in PRODUCTS]),
        by_product("product/region", [product.region for product in PRODUCTS]),
        by_product("product/regionCode", [product.region for product in PRODUCTS]),
        by_product("product/servicecode", [product.code for product in PRODUCTS]),
        by_product("product/tenancy", ["Shared" for _ in PRODUCTS]),
        by_product("pricing/unit", [product.unit for product in PRODUCTS]),
        on_kinds("pricing/LeaseContractLength", RESERVATION_KINDS, "1yr"),
        on_kinds("pricing/OfferingClass", RESERVATION_KINDS, "standard"),
        on_kinds("pricing/PurchaseOption", RESERVATION_KINDS, "No Upfront"),
        by_kind("pricing/term", dict.fromkeys(RESERVATION_KINDS, "Reserved"), "OnDemand"),
        on_kinds("reservation/EffectiveCost", (ChargeKind.reserved_usage,), "7.3920000000"),
        on_kinds("reservation/EndTime", RESERVATION_KINDS, format_timestamp(ends)),
        on_kinds("reservation/ModificationStatus", RESERVATION_KINDS, "Original"),
        on_kinds("reservation/NumberOfReservations", (ChargeKind.reservation_fee,), "4"),
        on_kinds("reservation/StartTime", RESERVATION_KINDS, format_timestamp(starts)),
        on_kinds("reservation/UnitsPerReservation", (ChargeKind.reservation_fee,), "4"),
        on_kinds("reservation/UpfrontValue", (ChargeKind.reservation_fee,), "0.0"),
        by_kind_and_customer(
            "reservation/ReservationARN", month, RESERVATION_KINDS, reservation_id
        ),
        by_kind_and_customer(
            "savingsPlan/SavingsPlanARN", month, SAVINGS_PLAN_KINDS, savings_plan_id
        ),
        on_kinds(
            "savingsPlan/SavingsPlanEffectiveCost", (ChargeKind.savings_plan_usage,), "0.0510000000"
        ),
    ]


def _tag_columns() -> list[FileColumn]:
    return [by_tags(f"resourceTags/user:{key}", lambda tags, key=key: tags.get(key))  # type: ignore[misc]
            for key in TAG_KEYS]  # fmt: skip


def charge_description(kind: ChargeKind, product: int) -> str:
    return DESCRIPTIONS.get(kind, PRODUCTS[product].description)


def reservation_id(customer: str) -> str:
    return f"{EC2_ARN_PREFIX}:{customer}:reserved-instances/5f1e-{customer[-4:]}"


def savings_plan_id(customer: str) -> str:
    return f"arn:aws:savingsplans::{customer}:savingsplan/7c2d-{customer[-4:]}"


def _end_of_hour(month: SyntheticMonth, hour: int) -> datetime:
    return month.hours[hour] + timedelta(hours=1)


def _format_interval(month: SyntheticMonth, hour: int) -> str:
    return f"{format_timestamp(month.hours[hour])}/{format_timestamp(_end_of_hour(month, hour))}"


def _with_parquet_type(column: FileColumn, month: SyntheticMonth, money: pa.DataType) -> FileColumn:
    """Times become timestamps; costs get the type that the export uses."""
    if column.by == "cost":
        return replace(column, type=money)
    if column.name in ("line_item_usage_start_date", "line_item_usage_end_date"):
        shift = timedelta(hours=column.name.endswith("end_date"))
        times = tuple((hour + shift).replace(tzinfo=None) for hour in month.hours)
        return replace(column, values=times, type=pa.timestamp("ms"))
    if column.name in ("bill_billing_period_start_date", "bill_billing_period_end_date"):
        time = month.start if "start" in column.name else month.end
        return replace(column, values=(time.replace(tzinfo=None),), type=pa.timestamp("ms"))
    return column


def _attributes(product: CloudProduct) -> dict[str, str]:
    return {"product_name": product.name, "operating_system": "Linux", "region": product.region}


def _user_tags(tags: dict[str, str]) -> dict[str, str]:
    return {f"user_{key}": value for key, value in tags.items()}


def _map_column(name: str, by: ValueKey, values: list[dict[str, str]], *, maps: bool) -> FileColumn:
    if maps:
        return FileColumn(name, by, tuple(list(value.items()) for value in values), TEXT_MAP)
    return FileColumn(name, by, tuple(json.dumps(value, ensure_ascii=False) for value in values))
