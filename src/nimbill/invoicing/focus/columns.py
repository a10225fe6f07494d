"""The columns of the FOCUS files that are made of invoices."""

from collections.abc import Mapping

import pyarrow as pa

from nimbill.costs.cost_line import MONEY, TIMESTAMP
from nimbill.costs.focus_columns import (
    COLUMNS_BY_VERSION,
    JSON,
    TEXT,
    FocusColumn,
    build_schema,
    nullable,
)

# See docs/choices.md, focus-invoices.

# printed amounts have at most two decimals; in yen they can be larger than any cost
AMOUNT = pa.decimal128(38, 10)


def _with_amounts(column: FocusColumn) -> FocusColumn:
    return column._replace(type=AMOUNT) if column.type == MONEY else column


COST_AND_USAGE_SCHEMAS = {
    version: build_schema({name: _with_amounts(column) for name, column in columns.items()})
    for version, columns in COLUMNS_BY_VERSION.items()
}

# fmt: off
INVOICE_DETAIL: Mapping[str, FocusColumn] = {
    "BilledCost":                     FocusColumn(AMOUNT),
    "BillingAccountId":               FocusColumn(TEXT),
    "BillingCurrency":                FocusColumn(TEXT),
    "BillingPeriodEnd":               FocusColumn(TIMESTAMP),
    "BillingPeriodStart":             FocusColumn(TIMESTAMP),
    "ChargeCategory":                 FocusColumn(TEXT),
    "InvoiceDetailCreated":           FocusColumn(TIMESTAMP),
    "InvoiceDetailDescription":       nullable(TEXT),
    "InvoiceDetailGrain":             nullable(JSON),
    "InvoiceDetailId":                FocusColumn(TEXT),
    "InvoiceDetailLastUpdated":       FocusColumn(TIMESTAMP),
    "InvoiceId":                      FocusColumn(TEXT),
    "InvoiceIssueDate":               nullable(TIMESTAMP),
    "InvoiceIssueStatus":             FocusColumn(TEXT),
    "InvoiceIssuerName":              FocusColumn(TEXT),
    "PaymentCurrency":                FocusColumn(TEXT),
    "PaymentCurrencyBilledCost":      FocusColumn(AMOUNT),
    "PaymentCurrencyInvoiceDetailId": FocusColumn(TEXT),
    "PaymentDueDate":                 nullable(TIMESTAMP),
    "PaymentTerms":                   FocusColumn(TEXT),
    "PurchaseOrderNumber":            nullable(TEXT),
    "ReferenceInvoiceId":             FocusColumn(TEXT),
}

BILLING_PERIOD: Mapping[str, FocusColumn] = {
    "BillingPeriodCreated":           FocusColumn(TIMESTAMP),
    "BillingPeriodEnd":               FocusColumn(TIMESTAMP),
    "BillingPeriodLastUpdated":       FocusColumn(TIMESTAMP),
    "BillingPeriodStart":             FocusColumn(TIMESTAMP),
    "BillingPeriodStatus":            FocusColumn(TEXT),
    "InvoiceIssuerName":              FocusColumn(TEXT),
}
# fmt: on

INVOICE_DETAIL_SCHEMA = build_schema(INVOICE_DETAIL)
BILLING_PERIOD_SCHEMA = build_schema(BILLING_PERIOD)
