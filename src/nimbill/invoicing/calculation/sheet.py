"""Calculates an invoice: one line of code for each printed line, in page order."""

from decimal import Decimal

import msgspec

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import subtract_decimals, sum_decimals, to_exact
from nimbill.invoicing.calculation.account_totals import (
    calculate_account_totals,
    calculate_pre_tax_usd,
)
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.calculation.fees import calculate_agency_fee, calculate_support_fee
from nimbill.invoicing.calculation.line_builder import (
    LineBuilder,
    number_enabled_items,
    sort_entries,
)
from nimbill.invoicing.calculation.lines import (
    RULES,
    AccountEntry,
    AccountTotal,
    EntryLine,
    Explanation,
    Fee,
    ItemLine,
    UsageLine,
)
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.calculation.usage import group_usage

__all__ = [
    "RULES",
    "AccountEntry",
    "AccountTotal",
    "EntryLine",
    "Explanation",
    "Fee",
    "InvoiceSheet",
    "ItemLine",
    "UsageLine",
    "calculate_invoice",
]


class InvoiceSheet(msgspec.Struct, frozen=True, kw_only=True):
    """All amounts are printed amounts in the invoice's currency unless noted otherwise."""

    currency: Currency
    cost_currency: Currency
    lines: tuple[UsageLine, ...]
    support: Fee | None
    agency: Fee | None
    entries: tuple[EntryLine, ...]
    items: tuple[ItemLine, ...]
    usage_charge: Decimal
    usage_after: Decimal
    tax_free: Decimal
    pre_tax: Decimal
    taxable: Decimal
    tax_rate: Decimal
    tax: Decimal
    total: Decimal
    pre_tax_usd: Decimal  # added up from exact amounts in USD and rounded once
    accounts: tuple[AccountTotal, ...]
    pre_tax_why: Explanation | None = None
    tax_why: Explanation | None = None
    total_why: Explanation | None = None


def calculate_invoice(charges: MonthlyCharges, terms: Terms) -> InvoiceSheet:
    """Each printed amount is rounded once; sums add up printed amounts."""
    builder = LineBuilder(charges.cost_currency, terms)
    usage = group_usage(charges.usage, terms)
    support = calculate_support_fee(usage, charges, terms)
    agency = calculate_agency_fee(usage, support, charges, terms)

    lines = tuple(builder.build_usage_line(line) for line in usage)
    support_line = builder.build_fee("support", support)
    agency_line = builder.build_fee("agency", agency)
    entries = tuple(builder.build_entry_line(entry) for entry in sort_entries(charges.entries))
    items = tuple(
        builder.build_item_line(number, item)
        for number, item in number_enabled_items(charges.items)
    )

    usage_charge = sum_decimals(line.charge for line in lines)
    usage_after = sum_decimals(line.after for line in lines)
    fee_total = sum_decimals(fee.after for fee in (support_line, agency_line) if fee)
    entry_total = sum_decimals(entry.amount for entry in entries)
    item_total = sum_decimals(item.total for item in items)

    pre_tax = sum_decimals([usage_after, fee_total, entry_total, item_total])
    tax_free = sum_decimals(entry.amount for entry in entries if entry.tax_free)
    taxable = subtract_decimals(pre_tax, tax_free)
    tax = builder.round_amount(to_exact(taxable) * to_exact(terms.tax_rate))
    total = sum_decimals([pre_tax, tax])

    return InvoiceSheet(
        currency=terms.currency,
        cost_currency=charges.cost_currency,
        lines=lines,
        support=support_line,
        agency=agency_line,
        entries=entries,
        items=items,
        usage_charge=usage_charge,
        usage_after=usage_after,
        tax_free=tax_free,
        pre_tax=pre_tax,
        taxable=taxable,
        tax_rate=terms.tax_rate,
        tax=tax,
        total=total,
        pre_tax_usd=calculate_pre_tax_usd(charges, terms, usage, [support, agency]),
        accounts=calculate_account_totals(charges, terms, lines, entries),
        pre_tax_why=builder.explain_sum("pre_tax", usage_after, fee_total, entry_total, item_total),
        tax_why=builder.explain_tax(taxable, tax),
        total_why=builder.explain_sum("total", pre_tax, tax),
    )
