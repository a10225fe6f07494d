"""Bodies of the decisions about late costs."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from nimbill.credit_notes.corrected_invoices.records import DriftDecisionKind
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.calendar_month import CalendarMonth
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, described, text_length


class DriftDecisionRequest(Body, frozen=True, kw_only=True):
    """`entry_month` is the open month of the entry, with decision entry."""

    basis: ClassVar[Basis] = chosen("drift-decisions")

    decision: DriftDecisionKind
    reason: Annotated[str, text_length(1, 1_000)]
    entry_month: CalendarMonth | None = None
    one_off_lines: Annotated[
        bool | None, described("whether one-off lines are billed too; they are not otherwise")
    ] = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        by_entry = sent.get("decision") == DriftDecisionKind.entry
        if by_entry != (sent.get("entry_month") is not None):
            yield Violation(
                "entry_month", f"with decision {DriftDecisionKind.entry}, and only then"
            )


class DriftDecision(Body, frozen=True, kw_only=True):
    """What was decided about the late costs of a customer; it never changes."""

    basis: ClassVar[Basis] = chosen("drift-decisions")

    import_id: str
    company_id: str
    decision: DriftDecisionKind
    reason: str
    invoice_no: Annotated[str | None, described("the invoice that was corrected")]
    currency: Currency | None
    pre_tax: Annotated[
        Decimal | None,
        described("what the customer pays more before tax; negative if it is returned"),
    ]
    entry_id: str | None
    entry_month: str | None
    credit_note_id: str | None
    replacement_no: Annotated[str | None, described("the number of the invoice in its place")]
    decide_time: str
    decided_by: Annotated[str, described("the name of the user")]


class LateCostSum(Body, frozen=True, kw_only=True):
    """The vendor's late costs in one currency: delivered minus what counts."""

    basis: ClassVar[Basis] = chosen("drift-decisions")

    currency: str
    usage: Decimal
    one_off_lines: Decimal


class DriftOfGroup(Body, frozen=True, kw_only=True):
    """The late costs of a customer in an import, and what was decided about them."""

    basis: ClassVar[Basis] = chosen("drift-decisions")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    late_costs: list[LateCostSum]
    invoice_no: Annotated[str | None, described("the current invoice of the month, if any")]
    decision: DriftDecision | None
