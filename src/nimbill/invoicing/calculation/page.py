"""Brings exact amounts to paper: exchanged, rounded once, and with how they came about."""

from collections.abc import Iterable
from decimal import Decimal

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import ONE, Exact, cut, exact, exchanged, readable, rounded
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.calculation.charges import AppliedEntry, FreeItem
from nimbill.invoicing.calculation.fees import ExactFee
from nimbill.invoicing.calculation.lines import EntryLine, Explanation, Fee, ItemLine, UsageLine
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.calculation.usage import Usage

basis = chosen("invoice-arithmetic")


def in_order(entries: Iterable[AppliedEntry]) -> list[AppliedEntry]:
    """By account, whatever the order of what came in."""
    return sorted(
        entries,
        key=lambda entry: (entry.customer_id, entry.calc_type, entry.description, entry.entry_id),
    )


def numbered(items: Iterable[FreeItem]) -> list[tuple[int, FreeItem]]:
    """The enabled ones in the order in which somebody wrote them, each with its number there."""
    return [(number, item) for number, item in enumerate(items, start=1) if item.enabled]


class Page:
    """In which currency the costs are, in which the invoice is, and how it is rounded."""

    def __init__(self, cost_currency: Currency, terms: Terms) -> None:
        self.cost_currency, self.terms = cost_currency, terms
        rate = exact(terms.exchange_rate)
        self.factor = exchanged(ONE, cost_currency, terms.currency, rate)
        self.exchange = _exchange(cost_currency, terms.currency, terms.exchange_rate)
        self.discount = f" × (1 - {terms.discount_rate:f})"

    def exchanged(self, cost: Exact) -> Exact:
        """From the cost's currency to the invoice's."""
        return cost * self.factor

    def printed(self, amount: Exact) -> Decimal:
        return rounded(amount, self.terms.currency, self.terms.rounding)

    def usage_line(self, usage: Usage) -> UsageLine:
        after = self.exchanged(usage.after)
        printed = self.printed(after)
        formula = f"{readable(usage.charge)}{self.discount}{self.exchange}"
        return UsageLine(
            customer_id=usage.customer_id,
            customer_name=usage.customer_name,
            tag=usage.tag,
            service=usage.service,
            marketplace=usage.marketplace,
            charge=self.printed(self.exchanged(usage.charge)),
            after=printed,
            cost=usage.cost,
            why=Explanation(
                rule="usage",
                base=cut(usage.charge),
                base_currency=self.cost_currency,
                working=self._worked(formula, after, printed),
                sources=usage.sources,
            ),
        )

    def fee(self, name: str, fee: ExactFee | None) -> Fee | None:
        if fee is None:
            return None
        after = self.exchanged(fee.after)
        printed = self.printed(after)
        factors = f"{self.discount if fee.discounted else ''}{self.exchange}"
        whole = f"({fee.working})" if factors and " + " in fee.working else fee.working
        return Fee(
            charge=self.printed(self.exchanged(fee.charge)),
            after=printed,
            why=Explanation(
                rule=f"{name}_{fee.kind}",
                base=None if fee.base is None else cut(fee.base),
                base_currency=None if fee.base is None else self.cost_currency,
                working=self._worked(f"{whole}{factors}", after, printed),
                sources=fee.sources,
            ),
        )

    def entry_line(self, entry: AppliedEntry) -> EntryLine:
        rate = entry.rate(self.terms.exchange_rate)
        amount = entry.worth(self.terms.currency, self.terms.exchange_rate)
        printed = self.printed(amount)
        formula = f"{entry.amount:f}{_exchange(entry.currency, self.terms.currency, rate)}"
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
                base=cut(exact(entry.amount)),
                base_currency=entry.currency,
                working=self._worked(formula, amount, printed),
                sources=(entry.entry_id,),
            ),
        )

    def item_line(self, number: int, item: FreeItem) -> ItemLine:
        total = exact(item.total)
        printed = self.printed(total)
        return ItemLine(
            label=item.label,
            unit_cost=item.unit_cost,
            quantity=item.quantity,
            total=printed,
            why=Explanation(
                rule="free_format",
                base=cut(total),
                base_currency=self.terms.currency,
                working=self._worked(f"{item.total:f}", total, printed),
                sources=(f"free format {number}",),
            ),
        )

    def tax_why(self, taxable: Decimal, tax: Decimal) -> Explanation:
        formula = f"{taxable:f} × {self.terms.tax_rate:f}"
        return Explanation(
            rule="tax",
            base=taxable,
            base_currency=self.terms.currency,
            working=self._worked(formula, exact(taxable) * exact(self.terms.tax_rate), tax),
        )

    def sum_why(self, rule: str, *printed: Decimal) -> Explanation:
        return Explanation(
            rule=rule,
            base_currency=self.terms.currency,
            working=" + ".join(f"{amount:f}" for amount in printed),
        )

    def _worked(self, formula: str, amount: Exact, printed: Decimal) -> str:
        found = f"{formula} = {readable(amount)}"
        if amount == printed:
            return found
        return f"{found}, {self.terms.rounding} {printed:f}"


def _exchange(of: Currency, into: Currency, rate: Decimal) -> str:
    if of is into:
        return ""
    return f" × {rate:f}" if into is Currency.jpy else f" / {rate:f}"
