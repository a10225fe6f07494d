"""The columns of a FOCUS 1.2 file, in the order of the specification, and ours behind them."""

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa

from nimbill.costs.cost_line import MOMENT, MONEY
from nimbill.foundation.basis import chosen

basis = chosen("focus-out")

TEXT = pa.string()
JSON = pa.string()  # a text in Parquet


class FocusColumn(NamedTuple):
    type: pa.DataType
    nullable: bool = False


def may_be_null(type_: pa.DataType) -> FocusColumn:
    return FocusColumn(type_, nullable=True)


# fmt: off
COLUMNS: Mapping[str, FocusColumn] = {
    "AvailabilityZone":                   may_be_null(TEXT),
    "BilledCost":                         FocusColumn(MONEY),
    "BillingAccountId":                   FocusColumn(TEXT),
    "BillingAccountName":                 may_be_null(TEXT),
    "BillingAccountType":                 FocusColumn(TEXT),
    "BillingCurrency":                    FocusColumn(TEXT),
    "BillingPeriodEnd":                   FocusColumn(MOMENT),
    "BillingPeriodStart":                 FocusColumn(MOMENT),
    "CapacityReservationId":              may_be_null(TEXT),
    "CapacityReservationStatus":          may_be_null(TEXT),
    "ChargeCategory":                     FocusColumn(TEXT),
    "ChargeClass":                        may_be_null(TEXT),
    "ChargeDescription":                  may_be_null(TEXT),
    "ChargeFrequency":                    FocusColumn(TEXT),
    "ChargePeriodEnd":                    FocusColumn(MOMENT),
    "ChargePeriodStart":                  FocusColumn(MOMENT),
    "CommitmentDiscountCategory":         may_be_null(TEXT),
    "CommitmentDiscountId":               may_be_null(TEXT),
    "CommitmentDiscountName":             may_be_null(TEXT),
    "CommitmentDiscountQuantity":         may_be_null(MONEY),
    "CommitmentDiscountStatus":           may_be_null(TEXT),
    "CommitmentDiscountType":             may_be_null(TEXT),
    "CommitmentDiscountUnit":             may_be_null(TEXT),
    "ConsumedQuantity":                   may_be_null(MONEY),
    "ConsumedUnit":                       may_be_null(TEXT),
    "ContractedCost":                     FocusColumn(MONEY),
    "ContractedUnitPrice":                may_be_null(MONEY),
    "EffectiveCost":                      FocusColumn(MONEY),
    "InvoiceId":                          may_be_null(TEXT),
    "InvoiceIssuerName":                  FocusColumn(TEXT),
    "ListCost":                           FocusColumn(MONEY),
    "ListUnitPrice":                      may_be_null(MONEY),
    "PricingCategory":                    may_be_null(TEXT),
    "PricingCurrency":                    may_be_null(TEXT),
    "PricingCurrencyContractedUnitPrice": may_be_null(MONEY),
    "PricingCurrencyEffectiveCost":       may_be_null(MONEY),
    "PricingCurrencyListUnitPrice":       may_be_null(MONEY),
    "PricingQuantity":                    may_be_null(MONEY),
    "PricingUnit":                        may_be_null(TEXT),
    "ProviderName":                       FocusColumn(TEXT),
    "PublisherName":                      FocusColumn(TEXT),
    "RegionId":                           may_be_null(TEXT),
    "RegionName":                         may_be_null(TEXT),
    "ResourceId":                         may_be_null(TEXT),
    "ResourceName":                       may_be_null(TEXT),
    "ResourceType":                       may_be_null(TEXT),
    "ServiceCategory":                    FocusColumn(TEXT),
    "ServiceName":                        FocusColumn(TEXT),
    "ServiceSubcategory":                 FocusColumn(TEXT),
    "SkuId":                              may_be_null(TEXT),
    "SkuMeter":                           may_be_null(TEXT),
    "SkuPriceDetails":                    may_be_null(JSON),
    "SkuPriceId":                         may_be_null(TEXT),
    "SubAccountId":                       may_be_null(TEXT),
    "SubAccountName":                     may_be_null(TEXT),
    "SubAccountType":                     may_be_null(TEXT),
    "Tags":                               may_be_null(JSON),
}

# what FOCUS has no words for: the vendor's own word and what it is to a bill
OWN_COLUMNS: Mapping[str, FocusColumn] = {
    "x_NimbillBillingEntity":             FocusColumn(TEXT),
    "x_NimbillEntryType":                 may_be_null(TEXT),
    "x_NimbillKind":                      FocusColumn(TEXT),
    "x_NimbillLineType":                  FocusColumn(TEXT),
}
# fmt: on

ALL_COLUMNS: Mapping[str, FocusColumn] = {**COLUMNS, **OWN_COLUMNS}

FOCUS_SCHEMA = pa.schema(
    [pa.field(name, column.type, nullable=column.nullable) for name, column in ALL_COLUMNS.items()]
)
