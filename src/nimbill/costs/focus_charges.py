"""Classifies cost lines as FOCUS charges: category, class, frequency and commitment purchases."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.costs.formats.focus import CATEGORIES, CORRECTION

# See docs/choices.md, focus-export.

# monthly fees of a commitment: billed like usage, but in FOCUS the purchase of later usage
RECURRING_TYPES = ("RIFee", "SavingsPlanRecurringFee")
# takes back the price of usage that a savings plan covers
NEGATION_TYPE = "SavingsPlanNegation"

# the spellings of the vendors, in lower case and without punctuation
FREQUENCIES = {"usagebased": "Usage-Based", "onetime": "One-Time", "recurring": "Recurring"}


class FocusCharge(NamedTuple):
    """Charge category and charge class of a line in FOCUS."""

    category: str
    class_: str | None = None


CHARGES_BY_KIND = {
    LineKind.usage: FocusCharge("Usage"),
    LineKind.tax: FocusCharge("Tax"),
    LineKind.discount: FocusCharge("Credit"),
    LineKind.unknown: FocusCharge("Adjustment"),
}
CHARGES_BY_ENTRY_TYPE = {
    EntryType.fee: FocusCharge("Purchase"),
    EntryType.upfront: FocusCharge("Purchase"),
    EntryType.credit: FocusCharge("Credit"),
    EntryType.refund: FocusCharge("Usage", CORRECTION.strip()),
}


def classify_charge(line_type: str, kind: str, entry_type: str | None) -> FocusCharge:
    """Line types of FOCUS files are kept; others are mapped by their kind and entry type."""
    category = line_type.removesuffix(CORRECTION)
    if category in CATEGORIES:
        return FocusCharge(category, CORRECTION.strip() if category != line_type else None)
    if line_type in RECURRING_TYPES:
        return FocusCharge("Purchase")
    if kind == LineKind.entry:
        return CHARGES_BY_ENTRY_TYPE[EntryType(entry_type or EntryType.fee)]
    return CHARGES_BY_KIND[LineKind(kind)]


def choose_frequency(category: str, line_type: str, delivered: str | None) -> str:
    """The vendor's frequency if FOCUS has it; a purchase is never based on usage."""
    letters = "".join(filter(str.isalpha, (delivered or "").lower()))
    frequency = FREQUENCIES.get(letters)
    if line_type in RECURRING_TYPES:
        return "Recurring"
    if frequency and not (category == "Purchase" and frequency == "Usage-Based"):
        return frequency
    return "Usage-Based" if category == "Usage" else "One-Time"


class FocusCharges(NamedTuple):
    """The classification of each line of a batch."""

    category: pa.Array
    class_: pa.Array
    frequency: pa.Array
    is_negation: pa.Array

    @property
    def is_priced(self) -> pa.Array:
        """Lines that can have a quantity and unit prices; prices are never negative."""
        has_price = pc.is_in(self.category, pa.array(["Usage", "Purchase"]))
        return pc.and_(has_price, pc.invert(self.is_negation))

    def is_commitment_purchase(self, lines: pa.Table) -> pa.Array:
        """A purchase that covers later usage, so that its cost is the usage's effective cost."""
        has_id = pc.or_(pc.is_valid(lines["reservation_id"]), pc.is_valid(lines["savings_plan_id"]))
        is_fee = pc.or_(
            pc.is_in(lines["line_type"], pa.array(RECURRING_TYPES)),
            pc.equal(lines["entry_type"], EntryType.upfront.value).fill_null(False),
        )
        return pc.and_(pc.equal(self.category, "Purchase"), pc.or_(has_id, is_fee))


def classify_charges(lines: pa.Table) -> FocusCharges:
    """There are few combinations of types; classify each once."""
    names = ("line_type", "kind", "entry_type", "charge_frequency")
    rows = zip(*(lines[name].to_pylist() for name in names), strict=True)
    cache: dict[tuple[Any, ...], tuple[str, str | None, str]] = {}
    charges = [
        cache[row] if row in cache else cache.setdefault(row, _classify(*row)) for row in rows
    ]
    category, class_, frequency = zip(*charges, strict=True)
    return FocusCharges(
        category=pa.array(category, pa.string()),
        class_=pa.array(class_, pa.string()),
        frequency=pa.array(frequency, pa.string()),
        is_negation=pc.equal(lines["line_type"], NEGATION_TYPE),
    )


def _classify(
    line_type: str, kind: str, entry_type: str | None, frequency: str | None
) -> tuple[str, str | None, str]:
    charge = classify_charge(line_type, kind, entry_type)
    return charge.category, charge.class_, choose_frequency(charge.category, line_type, frequency)
