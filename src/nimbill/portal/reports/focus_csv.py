"""The invoices of a customer's month as a FOCUS 1.2 file in CSV.

It is made of invoices alone. Its columns are listed here one by one, so that a column with prices
of the vendor cannot enter it by being added elsewhere.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from nimbill.invoicing.exports.csv_file import Cell, encode_csv
from nimbill.invoicing.focus.invoice_rows import build_cost_and_usage_rows
from nimbill.invoicing.focus.month_records import FocusMonth

COLUMNS = (
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingAccountType",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceId",
    "InvoiceIssuerName",
    "ListCost",  # the printed charge before the discount
    "PricingCategory",
    "PricingQuantity",  # mandatory, but invoices have none
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SubAccountId",
    "SubAccountName",
    "SubAccountType",
    "Tags",
)


def encode_focus(month: FocusMonth) -> bytes:
    return encode_csv(COLUMNS, _build_rows(month))


def _build_rows(month: FocusMonth) -> Iterator[list[Cell]]:
    for invoice in month.invoices:
        for row in build_cost_and_usage_rows(month, invoice):
            yield [_format(row.get(name)) for name in COLUMNS]


def _format(value: Any) -> Cell:
    return f"{value:%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else value
