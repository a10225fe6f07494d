"""The columns of a FOCUS 1.2 file, in the order of the specification, followed by our own."""

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from nimbill.costs.cost_line import MONEY, TIMESTAMP
from nimbill.foundation.basis import chosen

basis = chosen("focus-export")

TEXT = pa.string()
JSON = pa.string()  # Parquet has no JSON type


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

ALL_COLUMNS: Mapping[str, FocusColumn] = {**COLUMNS, **OWN_COLUMNS}

FOCUS_SCHEMA = pa.schema(
    [pa.field(name, column.type, nullable=column.nullable) for name, column in ALL_COLUMNS.items()]
)
