"""How much a credit note may return, and its tax, for one tax rate of an invoice. Pure functions.

Amounts of a note are positive where the invoice's are.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    CURRENCY_UNITS,
    Rounding,
    add_decimals,
    round_amount,
    subtract_decimals,
    to_exact,
)

basis = chosen("credit-notes")

ZERO = Decimal(0)
AMOUNT_MAX = 10**15  # of an amount by hand


class CreditKind(StrEnum):
    full = "full"  # everything that is left of the invoice
    lines = "lines"  # the invoice is corrected as if it did not have these lines
    manual = "manual"  # amounts that somebody entered
    correction = "correction"  # the invoice is corrected to one that was recalculated


class TaxedSum(NamedTuple):
    """An amount before tax and its tax."""

    pre_tax: Decimal
    tax: Decimal

    def __bool__(self) -> bool:
        return bool(self.pre_tax or self.tax)


# by tax rate; None for what is not subject to tax
RateSums = Mapping[Decimal | None, TaxedSum]
NOTHING = TaxedSum(ZERO, ZERO)


class TaxTerms(NamedTuple):
    """How the tax of an invoice was calculated."""

    tax_rate: Decimal
    currency: Currency
    rounding: Rounding


def subtract_notes(invoiced: TaxedSum, notes: Iterable[TaxedSum]) -> TaxedSum:
    """Return what earlier notes leave of the invoice."""
    pre_tax, tax = invoiced
    for note in notes:
        pre_tax = subtract_decimals(pre_tax, note.pre_tax)
        tax = subtract_decimals(tax, note.tax)
    return TaxedSum(pre_tax, tax)


def add_sums(sums: Iterable[TaxedSum]) -> TaxedSum:
    pre_tax = tax = ZERO
    for each in sums:
        pre_tax, tax = add_decimals(pre_tax, each.pre_tax), add_decimals(tax, each.tax)
    return TaxedSum(pre_tax, tax)


def subtract_by_rate(sums: RateSums, others: RateSums) -> dict[Decimal | None, TaxedSum]:
    """Subtract for each tax rate of either; invoices at different rates have both."""
    return {
        rate: subtract_notes(sums.get(rate, NOTHING), [others.get(rate, NOTHING)])
        for rate in (*sums, *(rate for rate in others if rate not in sums))
    }


def is_returnable(difference: RateSums, remaining: RateSums) -> bool:
    """Whether a note can return the difference: for no rate less than 0 or more than is left."""
    return all(
        is_within(amount, limit)
        for rate, each in difference.items()
        for amount, limit in zip(each, remaining.get(rate, NOTHING), strict=True)
    )


def is_payable(amount: Decimal, currency: Currency) -> bool:
    """A note has whole yen or cents, as an invoice has, and returns something."""
    return 0 < amount <= AMOUNT_MAX and amount == round_amount(
        to_exact(amount), currency, Rounding.down
    )


def is_within(amount: Decimal, remaining: Decimal) -> bool:
    """Whether the amount is between zero and what is left; what is left may be negative."""
    return min(ZERO, remaining) <= amount <= max(ZERO, remaining)


def calculate_tax(
    kind: CreditKind, amount: Decimal, remaining: TaxedSum, terms: TaxTerms
) -> Decimal:
    """Return the tax of a note over `amount`, which must be within what is left.

    The tax of a correcting note is what is left of the invoice's tax without the tax of the
    corrected invoice, so that invoice and notes add up to the corrected invoice. The tax of a note
    by hand is the rate times the amount, rounded once. Neither is more than what is left.
    """
    if kind is CreditKind.full:
        return remaining.tax
    if kind is CreditKind.lines:
        corrected = _round_tax(subtract_decimals(remaining.pre_tax, amount), terms)
        return _limit(subtract_decimals(remaining.tax, corrected), remaining.tax)
    return _limit(_round_tax(amount, terms), remaining.tax)


def _round_tax(amount: Decimal, terms: TaxTerms) -> Decimal:
    tax = to_exact(amount) * to_exact(terms.tax_rate)
    return round_amount(tax, terms.currency, terms.rounding)


def _limit(tax: Decimal, remaining: Decimal) -> Decimal:
    """Rounding each of several notes can add up to more than the invoice's own rounding."""
    return min(max(tax, min(ZERO, remaining)), max(ZERO, remaining))


def describe_unit(currency: Currency) -> str:
    unit = f"{CURRENCY_UNITS[currency]} {currency.value.upper()}"
    return f"a multiple of {unit}, greater than 0 and at most {AMOUNT_MAX}"
