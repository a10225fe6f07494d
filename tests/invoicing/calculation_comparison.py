"""Compares a drawn-up invoice with the second opinion on it, and says every difference."""

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


def find_differences(sheet: InvoiceSheet, other: IndependentInvoice) -> list[str]:
    """Each as the name of the amount, what the sheet says and what it should say."""
    return [
        f"{name}: {ours} instead of {theirs}"
        for name, ours, theirs in _compare_amounts(sheet, other)
        if ours != theirs
    ]


def _compare_amounts(
    sheet: InvoiceSheet, other: IndependentInvoice
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
    yield "number of lines", len(sheet.lines), len(other.lines)
    yield "lines", lines, other.lines
    yield "support", fee(sheet.support), other.support
    yield "agency", fee(sheet.agency), other.agency
    yield "entries", {e.entry_id: units(e.amount) for e in sheet.entries}, other.entries
    yield "items", [units(item.total) for item in sheet.items], other.items
    yield "tax-free", units(sheet.tax_free), other.tax_free
    yield "pre-tax", units(sheet.pre_tax), other.pre_tax
    yield "tax", units(sheet.tax), other.tax
    yield "total", units(sheet.total), other.total
    yield "pre-tax in dollars", units(sheet.pre_tax_usd, "usd"), other.pre_tax_usd
    accounts = {
        account.customer_id: (units(account.total, "usd"), units(account.total_exchanged))
        for account in sheet.accounts
    }
    yield "accounts", accounts, other.accounts
    for account in sheet.accounts:
        adjustments = [
            (entry.description, units(entry.amount, "usd"), units(entry.amount_exchanged))
            for entry in account.entries
        ]
        theirs = other.list_adjustments(account.customer_id)
        yield "adjustments", sorted(adjustments), theirs
