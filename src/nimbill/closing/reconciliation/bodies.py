"""Bodies of the tie-out."""

from decimal import Decimal
from enum import StrEnum
from typing import ClassVar

from nimbill.credit_notes.corrected_invoices.records import DriftDecisionKind
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.vendors import Vendor
from nimbill.http.request_bodies import Body


class TieOutPayer(Body, frozen=True, kw_only=True):
    """total + moved_fees equals the sum of the amounts that follow them."""

    basis: ClassVar[Basis] = chosen("tie-out")

    vendor: Vendor
    payer_id: str
    currency: str
    import_id: str | None
    provisional: bool
    total: Decimal
    moved_fees: Decimal
    invoiced: Decimal
    in_no_group: Decimal
    entries_applied: Decimal
    entries_unapplied: Decimal
    tax: Decimal
    discount: Decimal
    unknown: Decimal
    difference: Decimal


class TieOutDifference(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("tie-out")

    vendor: Vendor
    payer_id: str
    reason: str
    company_id: str | None
    invoice_no: str | None
    customer_id: str
    service: str
    marketplace: bool
    currency: str
    invoiced: Decimal
    counts: Decimal
    difference: Decimal


class TieOutEntryDifference(Body, frozen=True, kw_only=True):
    """An entry that is applied to the month otherwise than its invoices show, at cost."""

    basis: ClassVar[Basis] = chosen("tie-out")

    vendor: Vendor
    reason: str
    company_id: str | None
    invoice_no: str | None
    entry_id: str
    customer_id: str
    currency: str
    invoiced: Decimal
    applied: Decimal
    difference: Decimal


class TieOutAccount(Body, frozen=True, kw_only=True):
    """Usage of an account in no billing group."""

    basis: ClassVar[Basis] = chosen("tie-out")

    vendor: Vendor
    payer_id: str
    customer_id: str
    currency: str
    amount: Decimal


class TieOutLateCost(Body, frozen=True, kw_only=True):
    """Costs that the vendor changed after the month was closed, and what was decided about them."""

    basis: ClassVar[Basis] = chosen("tie-out")

    vendor: Vendor
    import_id: str
    company_id: str
    invoice_no: str | None
    decision: DriftDecisionKind
    currency: str
    amount: Decimal


class TieOutState(StrEnum):
    ties = "ties"
    differs = "differs"
    nothing_to_compare = "nothing_to_compare"  # no import, no charge and no invoice


class TieOutCounts(Body, frozen=True, kw_only=True):
    """How many rows each list has on all pages."""

    basis: ClassVar[Basis] = chosen("tie-out")

    differences: int
    entry_differences: int
    accounts_in_no_group: int


class TieOut(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("tie-out")

    month: str
    state: TieOutState
    ties: bool  # whether the state is `ties`
    payers: list[TieOutPayer]
    differences: list[TieOutDifference]
    entry_differences: list[TieOutEntryDifference]
    accounts_in_no_group: list[TieOutAccount]
    late_costs: list[TieOutLateCost]  # no part of the sums; the newest decision last
    counts: TieOutCounts
