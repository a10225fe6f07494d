"""The rows of the invoice files add up to the totals of any invoice."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from random import Random

import pytest

from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.exports import columns
from nimbill.invoicing.exports.csv_file import Cell
from nimbill.invoicing.exports.invoice_csv import build_invoice_account_rows, build_invoice_tag_rows
from tests.contract.specification import read_table
from tests.invoicing.random_documents import build_random_document

INVOICES = 300

ROWS = {
    "account": (columns.INVOICE_ACCOUNT, build_invoice_account_rows),
    "tag": (columns.INVOICE_TAG, build_invoice_tag_rows),
}
Cells = dict[str, Cell]


def rows_of(document: InvoiceDocument) -> list[Cells]:
    header, rows = ROWS[document.terms.calc_type]
    return [dict(zip(header, row, strict=True)) for row in rows([document])]


def sum_of(rows: list[Cells], column: str) -> Decimal:
    return sum_decimals(amount(row, column) for row in rows)


def amount(row: Cells, column: str) -> Decimal:
    cell = row[column]
    assert isinstance(cell, Decimal), (column, cell)
    return cell


@pytest.mark.parametrize("calc_type", ROWS)
def test_the_columns_are_the_specified_ones(calc_type: str) -> None:
    columns = [
        column.strip("`")
        for column, by_account, by_tag in read_table("Invoice CSV columns", "Column")
        if {"account": by_account, "tag": by_tag}[calc_type] == "yes"
    ]

    assert list(ROWS[calc_type][0]) == columns


def test_the_rows_of_any_invoice_add_up_to_its_totals() -> None:
    random = Random(20261115)
    for _ in range(INVOICES):
        document = build_random_document(random)
        sheet, rows = document.sheet, rows_of(document)
        *others, total = rows
        counted = [row for row in others if row["ServiceType"] != "Account"]

        assert total["ServiceName"] == "_TOTAL"
        for column in ("Charge", "DiscountCharge", "DiscountCharge - TaxFree"):
            assert sum_of(counted, column) == total[column], column
        assert amount(total, "DiscountCharge") + amount(total, "FreeFormat") == sheet.pre_tax
        assert (
            amount(total, "DiscountCharge - TaxFree") + amount(total, "FreeFormat") == sheet.taxable
        )
        assert (total["Tax"], total["Total"]) == (sheet.tax, sheet.total)


def test_the_services_of_an_account_or_a_tag_add_up_to_its_total() -> None:
    random = Random(20261116)
    for _ in range(INVOICES):
        document = build_random_document(random)
        owner = "CustomerID" if document.terms.calc_type == "account" else "Tag"
        services: dict[Cell, list[Cells]] = defaultdict(list)
        totals: dict[Cell, Cells] = {}
        for row in rows_of(document):
            if row["ServiceType"] == "Service":
                services[row[owner]].append(row)
            elif row["ServiceType"] == "Account":
                assert row["ServiceName"] == "_ACCOUNT_TOTAL"
                assert row[owner] not in totals
                totals[row[owner]] = row

        assert services.keys() == totals.keys()
        for name, total in totals.items():
            for column in ("Charge", "DiscountCharge", "DiscountCharge - TaxFree"):
                assert sum_of(services[name], column) == total[column]


def test_tax_free_entries_are_charged_but_not_taxed() -> None:
    random, seen = Random(20261117), set()
    for _ in range(INVOICES):
        document = build_random_document(random)
        names = {"_SUPPORT", "_SUBSTITUTION", "_TOTAL"}
        products = [row for row in rows_of(document) if row["ServiceType"] == "Product"]
        entries = [row for row in products if row["ServiceName"] not in names]

        assert [row["ServiceName"] for row in products[:2]] == ["_SUPPORT", "_SUBSTITUTION"]
        assert len(entries) == len(document.sheet.entries)
        for row, entry in zip(entries, document.sheet.entries, strict=True):
            assert row["ServiceName"] == entry.description
            assert row["Charge"] == row["DiscountCharge"] == entry.amount
            assert row["DiscountCharge - TaxFree"] == (0 if entry.tax_free else entry.amount)
            seen.add(entry.tax_free)

    assert seen == {True, False}


def test_invoice_totals_are_only_in_the_last_row() -> None:
    random = Random(20261118)
    for _ in range(INVOICES):
        *others, total = rows_of(build_random_document(random))

        assert all(row["CustomService"] == 0 for row in (*others, total))
        for column in ("FreeFormat", "Tax", "Total"):
            assert [row[column] for row in others] == [None] * len(others)
            assert total[column] is not None
