"""A second implementation of the amounts of credit notes, in whole units and fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction


def round_units(exact: Fraction, mode: str) -> int:
    """Round the absolute value to a whole unit, which is a yen or a cent."""
    size = abs(exact)
    whole = math.floor(size)
    rest = size - whole
    if (mode == "up" and rest) or (mode == "half_up" and rest >= Fraction(1, 2)):
        whole += 1
    return whole if exact >= 0 else -whole


@dataclass
class CreditedInvoice:
    """An invoice of one tax rate, all amounts in units; notes are kept as (amount, tax)."""

    base: int
    rate: Fraction
    mode: str
    notes: list[tuple[int, int]] = field(default_factory=list)

    @property
    def tax(self) -> int:
        return round_units(self.base * self.rate, self.mode)

    def left(self) -> tuple[int, int]:
        return (
            self.base - sum(amount for amount, _ in self.notes),
            self.tax - sum(tax for _, tax in self.notes),
        )

    def credit(self, kind: str, amount: int) -> tuple[int, int] | None:
        """Add a note and return it; None if it is more than what is left."""
        base_left, tax_left = self.left()
        if kind == "full":
            amount = base_left
        low, high = sorted((0, base_left))
        if amount < low or amount > high:
            return None
        if kind == "full":
            tax = tax_left
        elif kind == "lines":
            tax = tax_left - round_units((base_left - amount) * self.rate, self.mode)
        else:
            tax = round_units(amount * self.rate, self.mode)
        low, high = sorted((0, tax_left))
        tax = max(low, min(high, tax))
        self.notes.append((amount, tax))
        return amount, tax
