"""The prices and quantities of cost lines in FOCUS."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.costs.delivery_reader import read_delivery
from tests.costs.focus_rows import convert_line, convert_lines

PRICING = (
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ListUnitPrice",
    "ListCost",
    "ContractedUnitPrice",
    "ContractedCost",
)
AWS_HEADER = (
    "bill/PayerAccountId,bill/PayerAccountName,lineItem/UsageAccountId,bill/BillingEntity,"
    "bill/BillingPeriodStartDate,lineItem/LineItemType,lineItem/ProductCode,lineItem/UsageType,"
    "lineItem/UnblendedCost,lineItem/CurrencyCode,lineItem/UsageStartDate,lineItem/UsageAmount,"
    "pricing/unit,pricing/term,pricing/publicOnDemandRate,lineItem/UnblendedRate,product/sku,"
    "pricing/RateCode,reservation/ReservationARN,reservation/EffectiveCost"
)
AZURE_HEADER = (
    "BillingAccountId,BillingAccountName,SubscriptionId,BillingPeriodStartDate,Date,ChargeType,"
    "MeterCategory,Cost,BillingCurrency,Quantity,UnitOfMeasure,PayGPrice,UnitPrice,EffectivePrice,"
    "PricingModel,MeterId,Frequency,ReservationId"
)
FOCUS_HEADER = (
    "BillingAccountId,BillingAccountName,SubAccountId,ProviderName,PublisherName,"
    "BillingPeriodStart,ChargePeriodStart,ChargeCategory,ServiceName,BilledCost,BillingCurrency,"
    "PricingCategory,PricingQuantity,PricingUnit,ListUnitPrice,ListCost,ContractedUnitPrice,"
    "ContractedCost,EffectiveCost,ConsumedQuantity,ConsumedUnit,SkuId,SkuPriceId,ServiceCategory,"
    "ServiceSubcategory,ChargeFrequency"
)


def export_file(folder: Path, vendor: str, header: str, *lines: str) -> list[dict[str, Any]]:
    """Import a CSV file and return it as rows of FOCUS 1.2."""
    source = folder / "costs.csv"
    source.write_text("\n".join([header, *lines]) + "\n")
    result = read_delivery([source], folder, vendor=vendor)
    assert result.differences == []
    return convert_lines(result.rows, vendor, "1.2")


def pick(row: dict[str, Any], *names: str) -> list[Any]:
    return [None if row[name] is None else _plain(row[name]) for name in names]


def _plain(value: Any) -> Any:
    return f"{value.normalize():f}" if isinstance(value, Decimal) else value


def test_aws_lines_keep_their_prices_and_the_name_of_the_payer(tmp_path: Path) -> None:
    start = "2026-09-01T00:00:00Z"
    prefix = f"1,Aozora,2,AWS,{start}"

    usage, covered, fee, plain = export_file(
        tmp_path,
        "aws",
        AWS_HEADER,
        f"{prefix},Usage,AmazonEC2,BoxUsage,0.3,USD,{start},2,Hrs,OnDemand,0.2,0.15,SKU1,SKU1.A.B,,0",
        f"{prefix},DiscountedUsage,AmazonEC2,Box,0,USD,{start},3,Hrs,Reserved,0.2,0,SKU1,SKU1.A,arn,0.3",
        f"{prefix},RIFee,AmazonEC2,Heavy,21.6,USD,{start},720,,Reserved,,0.03,SKU2,,arn,0",
        f"{prefix},Usage,AmazonS3,Requests,1,USD,{start},,,,,,,,,0",
    )

    assert usage["BillingAccountName"] == "Aozora"
    assert pick(usage, *PRICING) == ["Standard", "2", "Hrs", "0.2", "0.4", "0.15", "0.3"]
    assert pick(usage, "SkuId", "SkuPriceId", "SkuMeter") == ["SKU1", "SKU1.A.B", "BoxUsage"]
    assert pick(covered, *PRICING) == ["Committed", "3", "Hrs", "0.2", "0.6", "0.2", "0.6"]
    assert pick(fee, *PRICING) == ["Standard", "720", "Units", None, "21.6", "0.03", "21.6"]
    assert pick(plain, *PRICING) == ["Standard", None, None, None, "1", None, "1"]
    # AWS writes an effective cost of 0 on lines without a commitment
    assert pick(usage, "EffectiveCost") + pick(plain, "EffectiveCost") == ["0.3", "1"]
    assert pick(covered, "EffectiveCost") + pick(fee, "EffectiveCost") == ["0.3", "0"]


def test_azure_lines_keep_their_prices_and_the_name_of_the_payer(tmp_path: Path) -> None:
    prefix = "8611537,Trey,00000000-0000-0000-0000-000000000001,2026-09-01,2026-09-02"

    usage, reserved, purchase, spot = export_file(
        tmp_path,
        "azure",
        AZURE_HEADER,
        f"{prefix},Usage,Storage,0.00004,USD,0.0004,10K,0.1,0.1,0.1,OnDemand,M1,UsageBased,",
        f"{prefix},Usage,Virtual Machines,0,USD,2,1 Hour,0,0.5,0,Reservation,M2,UsageBased,ri",
        f"{prefix},Purchase,Virtual Machines,90,USD,1,1,0,90,90,Reservation,M3,Recurring,ri",
        f"{prefix},Usage,Virtual Machines,0.1,USD,1,1 Hour,0.4,0.1,0.1,Spot,M4,UsageBased,",
    )

    assert usage["BillingAccountName"] == "Trey"
    assert pick(usage, *PRICING) == [
        "Standard", "0.0004", "10K", "0.1", "0.00004", "0.1", "0.00004"
    ]  # fmt: skip
    assert pick(reserved, *PRICING) == ["Committed", "2", "1 Hour", None, "0", "0.5", "1"]
    assert pick(purchase, *PRICING) == ["Standard", "1", "1", None, "90", "90", "90"]
    assert pick(purchase, "ChargeFrequency", "EffectiveCost") == ["Recurring", "0"]
    assert pick(spot, "PricingCategory", "ListCost") == ["Dynamic", "0.4"]


def test_lines_of_focus_files_keep_their_prices_and_categories(tmp_path: Path) -> None:
    period = "2026-09-01T00:00:00Z"
    prefix = f"1,SunBird,2,AWS,AWS,{period},{period}"

    usage, invalid, tax = export_file(
        tmp_path,
        "aws",
        FOCUS_HEADER,
        f"{prefix},Usage,Amazon EC2,0.5,USD,Dynamic,2,Hours,0,0.6,0.25,0.51,0.4,7,Requests,"
        "S,S.1,Compute,Virtual Machines,Usage-based",
        f"{prefix},Usage,Amazon EC2,0.5,USD,Cheap,many,Hours,-1,x,,,,,,,,,,",
        f"{prefix},Tax,Amazon EC2,0.5,USD,Standard,1,Hours,1,0.5,1,0.5,0.1,1,Hours,S,S.1,,,",
    )

    assert usage["BillingAccountName"] == "SunBird"
    assert pick(usage, *PRICING) == ["Dynamic", "2", "Hours", "0", "0.6", "0.25", "0.51"]
    assert pick(usage, "EffectiveCost", "ConsumedQuantity", "ConsumedUnit") == [
        "0.4", "7", "Requests"
    ]  # fmt: skip
    assert pick(usage, "ServiceCategory", "ServiceSubcategory") == ["Compute", "Virtual Machines"]
    assert pick(invalid, *PRICING) == ["Standard", None, None, None, "0.5", None, "0.5"]
    assert pick(tax, *PRICING) == [None, None, None, None, "0.5", None, "0.5"]
    assert pick(tax, "SkuId", "SkuPriceId", "ConsumedQuantity") == [None, None, None]


def test_a_pricing_column_that_occurs_twice_is_not_read(tmp_path: Path) -> None:
    header = AZURE_HEADER.replace("MeterId", "quantity")

    (row,) = export_file(
        tmp_path,
        "azure",
        header,
        "8611537,Trey,00000000-0000-0000-0000-000000000001,2026-09-01,2026-09-02,Usage,Storage,1,"
        "USD,2,1 Hour,0.5,0.5,0.5,OnDemand,3,UsageBased,",
    )

    assert pick(row, "PricingQuantity", "BilledCost") == [None, "1"]


def test_a_category_without_a_subcategory_has_the_other_of_its_category() -> None:
    row = convert_line(service_category="Compute")

    assert row["ServiceSubcategory"] == "Other (Compute)"


def test_a_product_beyond_the_largest_cost_is_left_out() -> None:
    row = convert_line(pricing_quantity="9999999999999999", list_unit_price="9999999999999999")

    assert pick(row, "ListCost", "ListUnitPrice") == ["1.5", "9999999999999999"]


@pytest.mark.parametrize(
    ("quantity", "price", "product"),
    [
        ("0.0000000000000000001", "5", "0"),
        ("3", "0.3333333333333333333333", "0.9999999999999999999999"),
        ("1.5E-3", "2", "0.003"),
    ],
)
def test_a_list_cost_is_the_exact_product(quantity: str, price: str, product: str) -> None:
    """Quantities are used to 18 decimals."""
    row = convert_line(pricing_quantity=quantity, list_unit_price=price)

    assert pick(row, "ListCost") == [product]


def test_version_1_4_names_the_seller_and_no_sku_price_without_prices() -> None:
    row = convert_line(
        version="1.4", sku_price_id="S.1", marketplace=True, billing_entity="Scanner Works"
    )

    assert row["SkuPriceId"] is None
    assert (row["ServiceProviderName"], row["HostProviderName"]) == ("Scanner Works", "AWS")
    assert "ProviderName" not in row
    assert (
        convert_line(version="1.4", sku_price_id="S.1", list_unit_price="1", unblended_rate="1")[
            "SkuPriceId"
        ]
        == "S.1"
    )
