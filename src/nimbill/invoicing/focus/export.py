"""Writes the FOCUS files of a month: one file in version 1.2, three files in version 1.4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from nimbill.costs.focus_columns import FocusVersion
from nimbill.costs.focus_export import FocusWriter, write_cost_and_usage
from nimbill.costs.lake.parquet_files import Lake
from nimbill.invoicing.focus.billing_periods import build_billing_period_rows
from nimbill.invoicing.focus.columns import (
    BILLING_PERIOD_SCHEMA,
    COST_AND_USAGE_SCHEMAS,
    INVOICE_DETAIL_SCHEMA,
)
from nimbill.invoicing.focus.invoice_rows import (
    FocusRow,
    build_cost_and_usage_rows,
    build_invoice_detail_rows,
)
from nimbill.invoicing.focus.month_records import FocusMonth

# See docs/choices.md, focus-invoices.

ROWS_PER_BATCH = 10_000
COST_AND_USAGE = "cost_and_usage.parquet"
INVOICE_DETAIL = "invoice_detail.parquet"
BILLING_PERIOD = "billing_period.parquet"


class Price(StrEnum):
    vendor = "vendor"  # the vendors' lines at the vendors' prices
    customer = "customer"  # the lines of the invoices, as billed


class WrittenFile(NamedTuple):
    path: Path
    lines: int


def write_focus(
    lake: Lake, month: FocusMonth, version: FocusVersion, price: Price, output: Path
) -> list[WrittenFile]:
    """`output` is a file in version 1.2 and a folder in version 1.4, which is created.

    Existing files are replaced only if all new ones are complete.
    """
    if version == FocusVersion.v1_2:
        with FocusWriter() as writer:
            return [_write_charges(writer, lake, month, version, price, output)]
    is_new = not output.exists()
    output.mkdir(exist_ok=True)
    try:
        with FocusWriter() as writer:
            charges = output / COST_AND_USAGE
            return [
                _write_charges(writer, lake, month, version, price, charges),
                _write_invoice_detail(writer, month, output / INVOICE_DETAIL),
                _write_billing_periods(writer, month, price, output / BILLING_PERIOD),
            ]
    except BaseException:
        if is_new:
            with suppress(OSError):
                output.rmdir()
        raise


def _write_charges(
    writer: FocusWriter,
    lake: Lake,
    month: FocusMonth,
    version: FocusVersion,
    price: Price,
    output: Path,
) -> WrittenFile:
    if price == Price.vendor:
        lines = write_cost_and_usage(
            writer,
            lake,
            month.files,
            month.month,
            output,
            version,
            provider_names=month.provider_names,
        )
        return WrittenFile(output, lines)
    rows = chain.from_iterable(
        build_cost_and_usage_rows(month, invoice) for invoice in month.invoices
    )
    return _write_rows(writer, output, COST_AND_USAGE_SCHEMAS[version], rows)


def _write_invoice_detail(writer: FocusWriter, month: FocusMonth, output: Path) -> WrittenFile:
    rows = chain.from_iterable(
        build_invoice_detail_rows(month, invoice) for invoice in month.invoices
    )
    return _write_rows(writer, output, INVOICE_DETAIL_SCHEMA, rows)


def _write_billing_periods(
    writer: FocusWriter, month: FocusMonth, price: Price, output: Path
) -> WrittenFile:
    rows = build_billing_period_rows(month, with_vendors=price == Price.vendor)
    return _write_rows(writer, output, BILLING_PERIOD_SCHEMA, rows)


def _write_rows(
    writer: FocusWriter, output: Path, schema: pa.Schema, rows: Iterable[FocusRow]
) -> WrittenFile:
    return WrittenFile(output, writer.write(output, schema, build_tables(schema, rows)))


def build_tables(schema: pa.Schema, rows: Iterable[FocusRow]) -> Iterator[pa.Table]:
    """Columns that a row has and the schema does not are left out."""
    remaining = iter(rows)
    while batch := list(islice(remaining, ROWS_PER_BATCH)):
        yield pa.Table.from_pylist(batch, schema=schema)


def default_output(month: str, vendor: str | None, version: FocusVersion, price: Price) -> str:
    parts = ["focus", vendor, "customer" if price == Price.customer else None, month]
    name = "-".join(part for part in parts if part)
    return name if version == FocusVersion.v1_4 else f"{name}.parquet"
