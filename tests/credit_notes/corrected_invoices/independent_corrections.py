"""A second implementation of corrections: the invoice is calculated anew from all of its charges.

It adds late costs to plain lists of charges and uses the independent calculation of invoices, so
that it shares no arithmetic with the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import msgspec

from nimbill.credit_notes.credit_note_rules import TaxedSum
from nimbill.foundation.currency import CURRENCIES
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    MonthlyCharges,
    UsageCharge,
)
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.late_cost import LateCost
from tests.credit_notes.independent_notes import CreditedInvoice
from tests.invoicing.independent_calculation import UNITS, IndependentInvoice

RateSums = dict[Decimal | None, TaxedSum]


class CorrectedInvoice:
    """An invoice, the notes by hand that were issued for it, and the same invoice corrected."""

    def __init__(self, invoice: InvoiceDocument, costs: Sequence[LateCost]) -> None:
        self.invoice = invoice
        self.unit = UNITS[invoice.currency]
        self.rate = Fraction(invoice.terms.tax_rate)
        self.before = self._calculate(invoice.charges)
        self.after = self._calculate(_add_costs(invoice.charges, costs))
        taxable = self.before.pre_tax - self.before.tax_free
        self.notes = CreditedInvoice(taxable, self.rate, str(invoice.terms.rounding))

    def _calculate(self, charges: MonthlyCharges) -> IndependentInvoice:
        terms = self.invoice.terms
        setting = msgspec.structs.asdict(self.invoice.setting)
        # the scope or basis of support that an earlier setting left, and then the current setting
        words = [terms.support_basis, terms.support_scope, setting["support_fee_calc_target"]]
        return IndependentInvoice(
            charges,
            [setting | {"support_fee_calc_target": word} for word in words if word is not None],
            exchange_rate=terms.exchange_rate,
            rounding=str(terms.rounding),
            usage_table=terms.usage_table,
        )

    def corrected_sums(self) -> RateSums:
        taxable = self.after.pre_tax - self.after.tax_free
        sums: RateSums = {self.invoice.terms.tax_rate: self._sum(taxable, self.after.tax)}
        if self.after.tax_free:
            sums[None] = self._sum(self.after.tax_free, 0)
        return sums

    def credit_share(self, share: Fraction) -> RateSums:
        """Issue a note by hand over a part of the invoice; nothing if it is refused."""
        note = self.notes.credit("manual", int(self.notes.base * share)) or (0, 0)
        return {self.invoice.terms.tax_rate: self._sum(*note)}

    def can_correct(self) -> bool:
        """For each rate, the correction is between nothing and what is left."""
        base, tax = self.notes.left()
        pairs = [
            (base - (self.after.pre_tax - self.after.tax_free), base),
            (tax - self.after.tax, tax),
            (self.before.tax_free - self.after.tax_free, self.before.tax_free),
        ]
        return all(min(0, left) <= amount <= max(0, left) for amount, left in pairs)

    def difference(self, *, tax_free: bool) -> Decimal:
        """By how much the correction lowers the invoice without its notes, before tax."""
        if tax_free:
            return self._money(self.before.tax_free - self.after.tax_free)
        before = self.before.pre_tax - self.before.tax_free
        return self._money(before - (self.after.pre_tax - self.after.tax_free))

    def _sum(self, base: int, tax: int) -> TaxedSum:
        return TaxedSum(self._money(base), self._money(tax))

    def _money(self, units: int) -> Decimal:
        return Decimal(units) / self.unit


def _add_costs(charges: MonthlyCharges, costs: Sequence[LateCost]) -> MonthlyCharges:
    """Charges of one line are added up by the calculation, so that late ones are appended."""
    usage = tuple(
        UsageCharge(
            customer_id=cost.customer_id,
            customer_name="",
            tag="",
            service=cost.service,
            marketplace=cost.marketplace,
            amount=cost.amount,
        )
        for cost in costs
        if not cost.one_off
    )
    entries = tuple(
        AppliedEntry(
            entry_id=f"late {number}",
            customer_id=cost.customer_id,
            customer_name="",
            calc_type="Fee" if cost.amount > 0 else "Credit",
            description="late",
            amount=cost.amount,
            currency=CURRENCIES[cost.currency],
            exchange_rate=Decimal(0),
            tax_free=False,
        )
        for number, cost in enumerate(costs)
        if cost.one_off
    )
    return MonthlyCharges(
        cost_currency=charges.cost_currency,
        usage=charges.usage + usage,
        entries=charges.entries + entries,
        items=charges.items,
    )
