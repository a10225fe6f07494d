"""The columns of FOCUS files of costs, in the order of the specification, followed by our own."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import pyarrow as pa

from nimbill.costs.cost_line import MONEY, TIMESTAMP

# See docs/choices.md, focus-export.

TEXT = pa.string()
JSON = pa.string()  # Parquet has no JSON type


class FocusVersion(StrEnum):
    v1_2 = "1.2"
    v1_4 = "1.4"


class FocusColumn(NamedTuple):
    type: pa.DataType
    nullable: bool = False


def nullable(type_: pa.DataType) -> FocusColumn:
    return FocusColumn(type_, nullable=True)


# fmt: off
COLUMNS: Mapping[str, FocusColumn] = {
    "AvailabilityZone":                   nullable(TEXT),
    "BilledCost":                         FocusColumn(MONEY),
    "BillingAccountId":                   FocusColumn(TEXT),
    "BillingAccountName":                 nullable(TEXT),
    "BillingAccountType":                 FocusColumn(TEXT),
    "BillingCurrency":                    FocusColumn(TEXT),
    "BillingPeriodEnd":                   FocusColumn(TIMESTAMP),
    "BillingPeriodStart":                 FocusColumn(TIMESTAMP),
    "CapacityReservationId":              nullable(TEXT),
    "CapacityReservationStatus":          nullable(TEXT),
    "ChargeCategory":                     FocusColumn(TEXT),
    "ChargeClass":                        nullable(TEXT),
    "ChargeDescription":                  nullable(TEXT),
    "ChargeFrequency":                    FocusColumn(TEXT),
    "ChargePeriodEnd":                    FocusColumn(TIMESTAMP),
    "ChargePeriodStart":                  FocusColumn(TIMESTAMP),
    "CommitmentDiscountCategory":         nullable(TEXT),
    "CommitmentDiscountId":               nullable(TEXT),
    "CommitmentDiscountName":             nullable(TEXT),
    "CommitmentDiscountQuantity":         nullable(MONEY),
    "CommitmentDiscountStatus":           nullable(TEXT),
    "CommitmentDiscountType":             nullable(TEXT),
    "CommitmentDiscountUnit":             nullable(TEXT),
    "ConsumedQuantity":                   nullable(MONEY),
    "ConsumedUnit":                       nullable(TEXT),
    "ContractedCost":                     FocusColumn(MONEY),
    "ContractedUnitPrice":                nullable(MONEY),
    "EffectiveCost":                      FocusColumn(MONEY),
    "InvoiceId":                          nullable(TEXT),
    "InvoiceIssuerName":                  FocusColumn(TEXT),
    "ListCost":                           FocusColumn(MONEY),
    "ListUnitPrice":                      nullable(MONEY),
    "PricingCategory":                    nullable(TEXT),
    "PricingCurrency":                    nullable(TEXT),
    "PricingCurrencyContractedUnitPrice": nullable(MONEY),
    "PricingCurrencyEffectiveCost":       nullable(MONEY),
    "PricingCurrencyListUnitPrice":       nullable(MONEY),
    "PricingQuantity":                    nullable(MONEY),
    "PricingUnit":                        nullable(TEXT),
    "ProviderName":                       FocusColumn(TEXT),
    "PublisherName":                      FocusColumn(TEXT),
    "RegionId":                           nullable(TEXT),
    "RegionName":                         nullable(TEXT),
    "ResourceId":                         nullable(TEXT),
    "ResourceName":                       nullable(TEXT),
    "ResourceType":                       nullable(TEXT),
    "ServiceCategory":                    FocusColumn(TEXT),
    "ServiceName":                        FocusColumn(TEXT),
    "ServiceSubcategory":                 FocusColumn(TEXT),
    "SkuId":                              nullable(TEXT),
    "SkuMeter":                           nullable(TEXT),
    "SkuPriceDetails":                    nullable(JSON),
    "SkuPriceId":                         nullable(TEXT),
    "SubAccountId":                       nullable(TEXT),
    "SubAccountName":                     nullable(TEXT),
    "SubAccountType":                     nullable(TEXT),
    "Tags":                               nullable(JSON),
}

# values that FOCUS has no column for: the vendor's line type, how it is billed, and the name of
# the product, because ServiceName holds the code that sums are grouped by
OWN_COLUMNS: Mapping[str, FocusColumn] = {
    "x_NimbillBillingEntity":             FocusColumn(TEXT),
    "x_NimbillEntryType":                 nullable(TEXT),
    "x_NimbillKind":                      FocusColumn(TEXT),
    "x_NimbillLineType":                  FocusColumn(TEXT),
    "x_NimbillServiceName":               nullable(TEXT),
}
# fmt: on

# Version 1.4 replaced the first two; values of the others are not known, and may not be null.
_NOT_IN_1_4 = (
    "ProviderName",
    "PublisherName",
    "PricingCurrency",
    "PricingCurrencyContractedUnitPrice",
    "PricingCurrencyEffectiveCost",
    "PricingCurrencyListUnitPrice",
)
_ADDED_BY_1_4: Mapping[str, FocusColumn] = {
    "AllocatedMethodDetails": nullable(JSON),
    "AllocatedMethodId": nullable(TEXT),
    "AllocatedResourceId": nullable(TEXT),
    "AllocatedResourceName": nullable(TEXT),
    "AllocatedTags": nullable(JSON),
    "CommitmentProgramEligibilityDetails": nullable(JSON),
    "ContractApplied": nullable(JSON),
    "HostProviderName": nullable(TEXT),
    "InvoiceDetailId": nullable(TEXT),
    "ServiceProviderName": FocusColumn(TEXT),
}
COLUMNS_1_4: Mapping[str, FocusColumn] = dict(
    sorted(
        {
            **{name: column for name, column in COLUMNS.items() if name not in _NOT_IN_1_4},
            **_ADDED_BY_1_4,
        }.items()
    )
)

COLUMNS_BY_VERSION = {FocusVersion.v1_2: COLUMNS, FocusVersion.v1_4: COLUMNS_1_4}


def build_schema(columns: Mapping[str, FocusColumn]) -> pa.Schema:
    return pa.schema(
        [pa.field(name, column.type, nullable=column.nullable) for name, column in columns.items()]
    )


def build_table(schema: pa.Schema, columns: Mapping[str, Any], count: int) -> pa.Table:
    """A column is an array, one value for all lines, or absent, which is null in every line."""
    arrays = [_build_column(columns.get(field.name), field.type, count) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _build_column(value: Any, type_: pa.DataType, count: int) -> Any:
    if isinstance(value, pa.Array | pa.ChunkedArray):
        return value.cast(type_)
    return pa.nulls(count, type_) if value is None else pa.repeat(pa.scalar(value, type_), count)
