"""The charge category, class, frequency and effective cost of cost lines in FOCUS."""

from __future__ import annotations

from decimal import Decimal

import pytest

from nimbill.costs.cost_line import EntryType, LineKind
from nimbill.costs.focus_charges import choose_frequency, classify_charge
from tests.costs.focus_rows import convert_line

RESERVED = {"reservation_id": "arn:ri"}
PLANNED = {"savings_plan_id": "arn:sp"}


@pytest.mark.parametrize(
    ("line_type", "kind", "entry_type", "charge"),
    [
        ("RIFee", "usage", None, ("Purchase", None)),
        ("SavingsPlanRecurringFee", "usage", None, ("Purchase", None)),
        ("SavingsPlanUpfrontFee", "entry", "Upfront", ("Purchase", None)),
        ("Fee", "entry", "Fee", ("Purchase", None)),
        ("Refund", "entry", "Refund", ("Usage", "Correction")),
        ("Credit", "entry", "Credit", ("Credit", None)),
        ("Tax", "tax", None, ("Tax", None)),
        ("EdpDiscount", "discount", None, ("Credit", None)),
        ("FlatRateSubscription", "unknown", None, ("Adjustment", None)),
        ("Adjustment", "entry", "Fee", ("Adjustment", None)),
        ("Usage Correction", "entry", "Refund", ("Usage", "Correction")),
    ],
)
def test_lines_are_classified_as_focus_charges(
    line_type: str, kind: str, entry_type: str | None, charge: tuple[str, str | None]
) -> None:
    assert classify_charge(line_type, kind, entry_type) == charge


def test_every_kind_and_entry_type_has_a_focus_category() -> None:
    categories = {"Usage", "Purchase", "Tax", "Credit", "Adjustment"}

    for kind in LineKind:
        for entry_type in (*EntryType, None):
            charge = classify_charge("unknown line type", kind, entry_type)
            assert charge.category in categories
            assert charge.class_ in (None, "Correction")


@pytest.mark.parametrize(
    ("category", "line_type", "delivered", "frequency"),
    [
        ("Usage", "Usage", None, "Usage-Based"),
        ("Usage", "Usage", "UsageBased", "Usage-Based"),
        ("Usage", "Usage", "Usage-based", "Usage-Based"),
        ("Usage", "Usage", "Recurring", "Recurring"),
        ("Purchase", "Fee", None, "One-Time"),
        ("Purchase", "Purchase", "OneTime", "One-Time"),
        ("Purchase", "Purchase", "UsageBased", "One-Time"),
        ("Purchase", "RIFee", None, "Recurring"),
        ("Tax", "Tax", "sometimes", "One-Time"),
    ],
)
def test_the_frequency_is_the_delivered_one_if_focus_allows_it(
    category: str, line_type: str, delivered: str | None, frequency: str
) -> None:
    assert choose_frequency(category, line_type, delivered) == frequency


@pytest.mark.parametrize(
    ("vendor", "fields"),
    [
        ("aws", {"line_type": "RIFee", **RESERVED}),
        ("aws", {"line_type": "SavingsPlanRecurringFee", **PLANNED}),
        ("aws", {"line_type": "Fee", "kind": "entry", "entry_type": "Fee", **RESERVED}),
        (
            "aws",
            {"line_type": "SavingsPlanUpfrontFee", "kind": "entry", "entry_type": "Upfront"},
        ),
        ("azure", {"line_type": "Purchase", "kind": "entry", "entry_type": "Fee", **RESERVED}),
        ("azure", {"line_type": "Purchase", "kind": "entry", "entry_type": "Fee", **PLANNED}),
    ],
)
def test_the_purchase_of_a_commitment_has_no_effective_cost(
    vendor: str, fields: dict[str, str]
) -> None:
    row = convert_line(vendor, **fields, cost=Decimal(7), effective_cost=Decimal(7))

    assert (row["ChargeCategory"], row["BilledCost"], row["EffectiveCost"]) == ("Purchase", 7, 0)
    assert row["CommitmentDiscountStatus"] is None
    assert row["PricingCategory"] == "Standard"


def test_a_fee_that_covers_no_usage_keeps_its_effective_cost() -> None:
    row = convert_line(line_type="Fee", kind="entry", entry_type="Fee", cost=Decimal(12))

    assert (row["ChargeCategory"], row["EffectiveCost"]) == ("Purchase", 12)


def test_the_negation_of_covered_usage_has_no_effective_cost() -> None:
    """The covered usage has the amortised cost; counting the negation would take it back."""
    row = convert_line(line_type="SavingsPlanNegation", cost=Decimal(-3), **PLANNED)

    assert (row["BilledCost"], row["EffectiveCost"]) == (-3, 0)


@pytest.mark.parametrize("line_type", ["Tax", "Credit"])
def test_tax_and_credit_cost_the_same_in_effect(line_type: str) -> None:
    kind = "tax" if line_type == "Tax" else "entry"

    row = convert_line(line_type=line_type, kind=kind, effective_cost=Decimal(0))

    assert row["EffectiveCost"] == row["BilledCost"] == Decimal("1.5")


@pytest.mark.parametrize(
    ("delivered", "status"), [(None, "Used"), ("Used", "Used"), ("Unused", "Unused")]
)
def test_covered_usage_keeps_its_commitment_status(delivered: str | None, status: str) -> None:
    row = convert_line(reservation_id="arn:ri", commitment_status=delivered)

    assert row["CommitmentDiscountStatus"] == status
