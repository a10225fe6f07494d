"""The invoice as it stands on paper: one line of code for one printed line, in the page's order."""

from decimal import Decimal

import msgspec

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import difference, exact, total_of
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.calculation.account_totals import account_totals, pre_tax_in_dollars
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.calculation.fees import agency_fee, support_fee
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
from nimbill.invoicing.calculation.page import Page, in_order, numbered
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.calculation.usage import usage_lines

basis = chosen("invoice-arithmetic")

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
    """Amounts are in the invoice's currency, as printed, unless they say otherwise."""

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
    pre_tax_usd: Decimal  # the same components in USD, added exactly and rounded once
    accounts: tuple[AccountTotal, ...]
    pre_tax_why: Explanation | None = None
    tax_why: Explanation | None = None
    total_why: Explanation | None = None


# fmt: off
def calculate_invoice(month: MonthlyCharges, terms: Terms) -> InvoiceSheet:
    """The page from top to bottom: printed amounts are rounded once, sums add what is printed."""
    page         = Page(month.cost_currency, terms)
    usage        = usage_lines(month.usage, terms)
    support      = support_fee(usage, month, terms)
    agency       = agency_fee(usage, support, month, terms)

    lines        = tuple(page.usage_line(line) for line in usage)
    support_line = page.fee("support", support)
    agency_line  = page.fee("agency", agency)
    entries      = tuple(page.entry_line(entry) for entry in in_order(month.entries))
    items        = tuple(page.item_line(number, item) for number, item in numbered(month.items))

    usage_charge = total_of(line.charge for line in lines)
    usage_after  = total_of(line.after for line in lines)
    of_fees      = total_of(fee.after for fee in (support_line, agency_line) if fee)
    of_entries   = total_of(entry.amount for entry in entries)
    of_items     = total_of(item.total for item in items)

    pre_tax      = total_of([usage_after, of_fees, of_entries, of_items])
    tax_free     = total_of(entry.amount for entry in entries if entry.tax_free)
    taxable      = difference(pre_tax, tax_free)
    tax          = page.printed(exact(taxable) * exact(terms.tax_rate))
    total        = total_of([pre_tax, tax])

    return InvoiceSheet(
        currency=terms.currency, cost_currency=month.cost_currency,
        lines=lines, support=support_line, agency=agency_line, entries=entries, items=items,
        usage_charge=usage_charge, usage_after=usage_after,
        tax_free=tax_free, pre_tax=pre_tax, taxable=taxable, tax_rate=terms.tax_rate,
        tax=tax, total=total,
        pre_tax_usd=pre_tax_in_dollars(month, terms, usage, [support, agency]),
        accounts=account_totals(month, terms, lines, entries),
        pre_tax_why=page.sum_why("pre_tax", usage_after, of_fees, of_entries, of_items),
        tax_why=page.tax_why(taxable, tax),
        total_why=page.sum_why("total", pre_tax, tax),
    )
# fmt: on
