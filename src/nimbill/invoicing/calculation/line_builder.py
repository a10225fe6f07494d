"""Builds printed lines from exact amounts: converted, rounded once, and explained."""

from collections.abc import Iterable
from decimal import Decimal

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    ONE,
    ExactAmount,
    convert_currency,
    format_amount,
    round_amount,
    to_exact,
    truncate_amount,
)
from nimbill.invoicing.calculation.charges import AppliedEntry, FreeItem
from nimbill.invoicing.calculation.fees import ExactFee
from nimbill.invoicing.calculation.lines import EntryLine, Explanation, Fee, ItemLine, UsageLine
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.calculation.usage import ExactUsage


def sort_entries(entries: Iterable[AppliedEntry]) -> list[AppliedEntry]:
    """Sort by account, so that the result does not depend on the input order."""
    return sorted(
        entries,
        key=lambda entry: (entry.customer_id, entry.calc_type, entry.description, entry.entry_id),
    )


def number_enabled_items(items: Iterable[FreeItem]) -> list[tuple[int, FreeItem]]:
    """The enabled items with their position in the list that users edit."""
    return [(number, item) for number, item in enumerate(items, start=1) if item.enabled]


class LineBuilder:
    """Knows the currencies of costs and invoice, the rate and the rounding."""

    def __init__(self, cost_currency: Currency, terms: Terms) -> None:
        self.cost_currency, self.terms = cost_currency, terms
        rate = to_exact(terms.exchange_rate)
        self.conversion_factor = convert_currency(ONE, cost_currency, terms.currency, rate)
        self.exchange = _format_exchange(cost_currency, terms.currency, terms.exchange_rate)
        self.discount = f" × (1 - {terms.discount_rate:f})"

    def to_invoice_currency(self, cost: ExactAmount) -> ExactAmount:
        return cost * self.conversion_factor

    def round_amount(self, amount: ExactAmount) -> Decimal:
        return round_amount(amount, self.terms.currency, self.terms.rounding)

    def build_usage_line(self, usage: ExactUsage) -> UsageLine:
        after = self.to_invoice_currency(usage.after)
        printed = self.round_amount(after)
        formula = f"{format_amount(usage.charge)}{self.discount}{self.exchange}"
        return UsageLine(
            customer_id=usage.customer_id,
            customer_name=usage.customer_name,
            tag=usage.tag,
            service=usage.service,
            marketplace=usage.marketplace,
            charge=self.round_amount(self.to_invoice_currency(usage.charge)),
            after=printed,
            cost=usage.cost,
            why=Explanation(
                rule="usage",
                base=truncate_amount(usage.charge),
                base_currency=self.cost_currency,
                working=self._format_working(formula, after, printed),
                sources=usage.sources,
            ),
            products=usage.products,
        )

    def build_fee(self, name: str, fee: ExactFee | None) -> Fee | None:
        if fee is None:
            return None
        after = self.to_invoice_currency(fee.after)
        printed = self.round_amount(after)
        factors = f"{self.discount if fee.discounted else ''}{self.exchange}"
        formula = f"({fee.working})" if factors and " + " in fee.working else fee.working
        return Fee(
            charge=self.round_amount(self.to_invoice_currency(fee.charge)),
            after=printed,
            why=Explanation(
                rule=f"{name}_{fee.kind}",
                base=None if fee.base is None else truncate_amount(fee.base),
                base_currency=None if fee.base is None else self.cost_currency,
                working=self._format_working(f"{formula}{factors}", after, printed),
                sources=fee.sources,
            ),
        )

    def build_entry_line(self, entry: AppliedEntry) -> EntryLine:
        rate = entry.effective_rate(self.terms.exchange_rate)
        amount = entry.convert(self.terms.currency, self.terms.exchange_rate)
        printed = self.round_amount(amount)
        formula = f"{entry.amount:f}{_format_exchange(entry.currency, self.terms.currency, rate)}"
        return EntryLine(
            entry_id=entry.entry_id,
            customer_id=entry.customer_id,
            customer_name=entry.customer_name,
            calc_type=entry.calc_type,
            description=entry.description,
            original=entry.amount,
            original_currency=entry.currency,
            exchange_rate=None if entry.currency is self.terms.currency else rate,
            amount=printed,
            tax_free=entry.tax_free,
            why=Explanation(
                rule="entry",
                base=truncate_amount(to_exact(entry.amount)),
                base_currency=entry.currency,
                working=self._format_working(formula, amount, printed),
                sources=(entry.entry_id,),
            ),
        )

    def build_item_line(self, number: int, item: FreeItem) -> ItemLine:
        total = to_exact(item.total)
        printed = self.round_amount(total)
        return ItemLine(
            label=item.label,
            unit_cost=item.unit_cost,
            quantity=item.quantity,
            total=printed,
            why=Explanation(
                rule="free_format",
                base=truncate_amount(total),
                base_currency=self.terms.currency,
                working=self._format_working(f"{item.total:f}", total, printed),
                sources=(f"free format {number}",),
            ),
        )

    def explain_tax(self, taxable: Decimal, tax: Decimal) -> Explanation:
        formula = f"{taxable:f} × {self.terms.tax_rate:f}"
        return Explanation(
            rule="tax",
            base=taxable,
            base_currency=self.terms.currency,
            working=self._format_working(
                formula, to_exact(taxable) * to_exact(self.terms.tax_rate), tax
            ),
        )

    def explain_sum(self, rule: str, *printed: Decimal) -> Explanation:
        return Explanation(
            rule=rule,
            base_currency=self.terms.currency,
            working=" + ".join(f"{amount:f}" for amount in printed),
        )

    def _format_working(self, formula: str, amount: ExactAmount, printed: Decimal) -> str:
        working = f"{formula} = {format_amount(amount)}"
        if amount == printed:
            return working
        return f"{working}, {self.terms.rounding} {printed:f}"


def _format_exchange(of: Currency, into: Currency, rate: Decimal) -> str:
    if of is into:
        return ""
    return f" × {rate:f}" if into is Currency.jpy else f" / {rate:f}"
