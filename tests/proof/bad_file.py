"""A bad file of the corpus, and the valid file that it is made from."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nimbill.demo.vendor_files.charges import SyntheticMonth, generate_charges
from nimbill.demo.vendor_files.columns import csv_header, csv_lines
from nimbill.demo.vendor_files.dialects import Dialect, build_columns

LINES = 48
IMPORTERS = (
    Dialect.aws_cur,
    Dialect.aws_cur2,
    Dialect.azure_ea,
    Dialect.azure_mca,
    Dialect.focus_1_2,
)
# the columns of cost, currency, … in each dialect
# fmt: off
COLUMNS: Mapping[Dialect, Mapping[str, str]] = {
    Dialect.aws_cur: {
        "cost": "lineItem/UnblendedCost", "currency": "lineItem/CurrencyCode",
        "date": "lineItem/UsageStartDate", "customer": "lineItem/UsageAccountId",
        "payer": "bill/PayerAccountId", "period": "bill/BillingPeriodStartDate",
        "type": "lineItem/LineItemType",
    },
    Dialect.aws_cur2: {
        "cost": "line_item_unblended_cost", "currency": "line_item_currency_code",
        "date": "line_item_usage_start_date", "customer": "line_item_usage_account_id",
        "payer": "bill_payer_account_id", "period": "bill_billing_period_start_date",
        "type": "line_item_line_item_type",
    },
    Dialect.azure_ea: {
        "cost": "Cost", "currency": "BillingCurrency", "date": "Date",
        "customer": "SubscriptionId", "period": "BillingPeriodStartDate", "type": "ChargeType",
        "coverage": "PricingModel",
    },
    Dialect.azure_mca: {
        "cost": "costInBillingCurrency", "currency": "billingCurrency", "date": "date",
        "customer": "SubscriptionId", "period": "billingPeriodStartDate", "type": "ChargeType",
        "coverage": "PricingModel",
    },
    Dialect.focus_1_2: {
        "cost": "BilledCost", "currency": "BillingCurrency", "date": "ChargePeriodStart",
        "customer": "SubAccountId", "payer": "BillingAccountId", "period": "BillingPeriodStart",
        "type": "ChargeCategory", "coverage": "CommitmentDiscountStatus",
    },
}
# fmt: on


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that must be refused, and the expected error.

    Any of `rules` is accepted. A line or column that is not None must be reported.
    """

    title: str
    files: Mapping[str, bytes | Callable[[], bytes]]
    rules: tuple[str, ...]
    line: int | None = None
    column: str | None = None
    vendor: str = "aws"
    month: str | None = None
    reported_file: str | None = None  # the file that the error must name if there are several

    def write(self, folder: Path) -> list[Path]:
        """Write its files; their folder is imported."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, content in self.files.items():
            path = folder / name
            path.write_bytes(content if isinstance(content, bytes) else content())
            paths.append(path)
        return paths

    @property
    def expected_file(self) -> str:
        return self.reported_file or next(iter(self.files))


@dataclass(frozen=True, slots=True)
class CostSheet:
    """A valid month of a dialect as rows that can be modified."""

    dialect: Dialect
    vendor: str
    rows: list[list[str]] = field(repr=False)  # the header is line 1

    @property
    def header(self) -> list[str]:
        return self.rows[0]

    def has(self, meaning: str) -> bool:
        return meaning in COLUMNS[self.dialect]

    def column(self, meaning: str) -> str:
        return COLUMNS[self.dialect][meaning]

    def with_cell(self, line: int, meaning: str, value: str) -> CostSheet:
        """Replace a value in the line of that number; the header is line 1."""
        rows = [list(row) for row in self.rows]
        rows[line - 1][self.header.index(self.column(meaning))] = value
        return self.with_rows(rows)

    def with_rows(self, rows: list[list[str]]) -> CostSheet:
        return CostSheet(self.dialect, self.vendor, rows)

    def text(self, *, ends: str = "\n", sep: str = ",", quote_all: bool = False) -> str:
        out = io.StringIO()
        if quote_all:
            writer = csv.writer(out, lineterminator=ends, quoting=csv.QUOTE_ALL)
        else:
            writer = csv.writer(out, delimiter=sep, lineterminator=ends)
        writer.writerows(self.rows)
        return out.getvalue()

    def bytes(self) -> bytes:
        return self.text().encode()


def sheet(dialect: Dialect, seed: int = 5) -> CostSheet:
    vendor = dialect.vendors[0]
    month = SyntheticMonth(vendor=vendor, lines=LINES, seed=seed)
    columns = build_columns(month, dialect, "decimal", typed=False)
    text = csv_header(columns) + bytes(csv_lines(columns, next(generate_charges(month)), month))
    return CostSheet(dialect, vendor, list(csv.reader(io.StringIO(text.decode()), strict=True)))
