"""Compares a calculated invoice with the independent calculation and lists every difference."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from nimbill.invoicing.calculation.sheet import Fee, InvoiceSheet
from tests.invoicing.independent_calculation import UNITS, IndependentInvoice
from tests.invoicing.random_invoices import InvoiceCase


def calculate_independently(case: InvoiceCase) -> IndependentInvoice:
    return IndependentInvoice(
        case.charges,
        case.settings,
        exchange_rate=case.exchange_rate,
        rounding=str(case.rounding),
        usage_table=case.usage_table,
    )


def find_differences(sheet: InvoiceSheet, expected: IndependentInvoice) -> list[str]:
    """List each difference with the name of the amount, the actual and the expected value."""
    return [
        f"{name}: {actual} instead of {expected_value}"
        for name, actual, expected_value in _compare_amounts(sheet, expected)
        if actual != expected_value
    ]


def _compare_amounts(
    sheet: InvoiceSheet, expected: IndependentInvoice
) -> Iterator[tuple[str, Any, Any]]:
    def units(amount: Decimal, currency: str = sheet.currency) -> int:
        scaled = amount * UNITS[currency]
        assert scaled == int(scaled), f"{amount} {currency} is not in whole units"
        return int(scaled)

    def fee(printed: Fee | None) -> list[int]:
        return [units(printed.charge), units(printed.after)] if printed else []

    lines = {
        (line.tag or line.customer_id, line.service, line.marketplace): (
            units(line.charge),
            units(line.after),
        )
        for line in sheet.lines
    }
    yield "number of lines", len(sheet.lines), len(expected.lines)
    yield "lines", lines, expected.lines
    yield "support", fee(sheet.support), expected.support
    yield "agency", fee(sheet.agency), expected.agency
    yield "entries", {e.entry_id: units(e.amount) for e in sheet.entries}, expected.entries
    yield "items", [units(item.total) for item in sheet.items], expected.items
    yield "tax-free", units(sheet.tax_free), expected.tax_free
    yield "pre-tax", units(sheet.pre_tax), expected.pre_tax
    yield "tax", units(sheet.tax), expected.tax
    yield "total", units(sheet.total), expected.total
    yield "pre-tax in dollars", units(sheet.pre_tax_usd, "usd"), expected.pre_tax_usd
    accounts = {
        account.customer_id: (units(account.total, "usd"), units(account.total_exchanged))
        for account in sheet.accounts
    }
    yield "accounts", accounts, expected.accounts
    for account in sheet.accounts:
        adjustments = [
            (entry.description, units(entry.amount, "usd"), units(entry.amount_exchanged))
            for entry in account.entries
        ]
        expected_value = expected.list_adjustments(account.customer_id)
        yield "adjustments", sorted(adjustments), expected_value
