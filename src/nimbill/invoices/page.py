"""Brings exact amounts to paper: exchanged, rounded once, and with how they came about."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from nimbill.basis import chosen
from nimbill.invoices.charges import AppliedEntry, FreeItem
from nimbill.invoices.fees import ExactFee
from nimbill.invoices.lines import EntryLine, Explanation, Fee, ItemLine, UsageLine
from nimbill.invoices.terms import Terms
from nimbill.invoices.usage import Usage
from nimbill.money import cut, exact, exchanged, readable, rounded
from nimbill.vocabulary import Currency

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


@dataclass(frozen=True, slots=True)
class Page:
    """In which currency the costs are, in which the invoice is, and how it is rounded."""

    cost_currency: Currency
    terms: Terms
    rate: Fraction

    def exchanged(self, cost: Fraction) -> Fraction:
        """From the cost's currency to the invoice's."""
        return exchanged(cost, self.cost_currency, self.terms.currency, self.rate)

    def printed(self, amount: Fraction) -> Decimal:
        return rounded(amount, self.terms.currency, self.terms.rounding)

    def usage_line(self, usage: Usage) -> UsageLine:
        return UsageLine(
            customer_id=usage.customer_id,
            customer_name=usage.customer_name,
            tag=usage.tag,
            service=usage.service,
            marketplace=usage.marketplace,
            charge=self.printed(self.exchanged(usage.charge)),
            after=self.printed(self.exchanged(usage.after)),
            cost=usage.cost,
            why=Explanation(
                rule="usage",
                base=cut(usage.charge),
                base_currency=self.cost_currency,
                working=self._of_cost(readable(usage.charge), usage.after, discounted=True),
                sources=usage.sources,
            ),
        )

    def fee(self, name: str, fee: ExactFee | None) -> Fee | None:
        if fee is None:
            return None
        return Fee(
            charge=self.printed(self.exchanged(fee.charge)),
            after=self.printed(self.exchanged(fee.after)),
            why=Explanation(
                rule=f"{name}_{fee.kind}",
                base=None if fee.base is None else cut(fee.base),
                base_currency=None if fee.base is None else self.cost_currency,
                working=self._of_cost(fee.working, fee.after, discounted=fee.discounted),
                sources=fee.sources,
            ),
        )

    def entry_line(self, entry: AppliedEntry) -> EntryLine:
        rate = entry.rate(self.terms.exchange_rate)
        amount = entry.worth(self.terms.currency, self.terms.exchange_rate)
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
            amount=self.printed(amount),
            tax_free=entry.tax_free,
            why=Explanation(
                rule="entry",
                base=cut(exact(entry.amount)),
                base_currency=entry.currency,
                working=self._worked(formula, amount),
                sources=(entry.entry_id,),
            ),
        )

    def item_line(self, number: int, item: FreeItem) -> ItemLine:
        return ItemLine(
            label=item.label,
            unit_cost=item.unit_cost,
            quantity=item.quantity,
            total=self.printed(exact(item.total)),
            why=Explanation(
                rule="free_format",
                base=cut(exact(item.total)),
                base_currency=self.terms.currency,
                working=self._worked(f"{item.total:f}", exact(item.total)),
                sources=(f"free format {number}",),
            ),
        )

    def tax_why(self, taxable: Decimal) -> Explanation:
        return Explanation(
            rule="tax",
            base=taxable,
            base_currency=self.terms.currency,
            working=self._worked(
                f"{taxable:f} × {self.terms.tax_rate:f}",
                exact(taxable) * exact(self.terms.tax_rate),
            ),
        )

    def sum_why(self, rule: str, *printed: Decimal) -> Explanation:
        return Explanation(
            rule=rule,
            base_currency=self.terms.currency,
            working=" + ".join(f"{amount:f}" for amount in printed),
        )

    def _of_cost(self, formula: str, cost: Fraction, *, discounted: bool) -> str:
        """From an amount in the cost's currency to what is printed after discount."""
        discount = f" × (1 - {self.terms.discount_rate:f})" if discounted else ""
        exchange = _exchange(self.cost_currency, self.terms.currency, self.terms.exchange_rate)
        factors = f"{discount}{exchange}"
        whole = f"({formula})" if factors and " + " in formula else formula
        return self._worked(f"{whole}{factors}", self.exchanged(cost))

    def _worked(self, formula: str, amount: Fraction) -> str:
        printed = self.printed(amount)
        found = f"{formula} = {readable(amount)}"
        return found if printed == amount else f"{found}, {self.terms.rounding} {printed:f}"


def _exchange(of: Currency, into: Currency, rate: Decimal) -> str:
    if of is into:
        return ""
    return f" × {rate:f}" if into is Currency.jpy else f" / {rate:f}"
