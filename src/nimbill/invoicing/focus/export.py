"""Writes the FOCUS files of a month: one file in version 1.2, three files in version 1.4."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from nimbill.costs.focus_columns import FocusVersion
from nimbill.costs.focus_export import FocusWriter, write_cost_and_usage
from nimbill.costs.focus_names import next_month_start
from nimbill.costs.lake.parquet_files import Lake
from nimbill.foundation.calendar_month import month_start
from nimbill.invoicing.focus.columns import (
    BILLING_PERIOD_SCHEMA,
    COST_AND_USAGE_SCHEMAS,
    INVOICE_DETAIL_SCHEMA,
)
from nimbill.invoicing.focus.invoice_rows import (
    FocusRow,
    Invoice,
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


def build_billing_period_rows(month: FocusMonth, *, with_vendors: bool) -> Iterator[FocusRow]:
    """The vendors' periods are needed if Cost and Usage contains what they charged."""
    period = {
        "BillingPeriodEnd": next_month_start(month.month),
        "BillingPeriodStart": month_start(month.month),
    }
    if with_vendors:
        for vendor in sorted({file.vendor for file in month.files}):
            yield period | _describe_vendor(month, vendor)
    issuers: defaultdict[str, list[Invoice]] = defaultdict(list)
    for invoice in month.invoices:
        issuers[month.issuer_name(invoice.document)].append(invoice)
    for issuer, invoices in sorted(issuers.items()):
        yield period | {"InvoiceIssuerName": issuer} | _describe_issuer(month, invoices)


def _describe_vendor(month: FocusMonth, vendor: str) -> FocusRow:
    """A vendor closes its month by giving every line the id of its invoice."""
    costs = month.costs[vendor]
    return {
        "BillingPeriodCreated": costs.first_import,
        "BillingPeriodLastUpdated": costs.last_import,
        "BillingPeriodStatus": "Open" if costs.provisional else "Closed",
        "InvoiceIssuerName": month.name_provider(vendor),
    }


def _describe_issuer(month: FocusMonth, invoices: list[Invoice]) -> FocusRow:
    vendors = {invoice.vendor for invoice in invoices}
    states = [month.states[vendor] for vendor in vendors if vendor in month.states]
    changes = [invoice.update_time for invoice in invoices]
    is_closed = all(month.is_closed(vendor) for vendor in vendors)
    return {
        "BillingPeriodCreated": min(invoice.create_time for invoice in invoices),
        "BillingPeriodLastUpdated": max(changes + [state.update_time for state in states]),
        "BillingPeriodStatus": "Closed" if is_closed else "Open",
    }
