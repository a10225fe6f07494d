"""Bodies of closing and reopening a month, and of its steps."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, Success, described, text_length

REASON = text_length(1, 1000)


class MonthClosing(Body, frozen=True, kw_only=True):
    """`override` closes a month that is not ready; the reason is then required."""

    basis: ClassVar[Basis] = chosen("closed-months")

    vendor: BilledVendor
    reason: Annotated[str, REASON] | None = None
    override: bool | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if sent.get("override") is True and sent.get("reason") is None:
            yield Violation("reason", "required with override")


class MonthReopening(Body, frozen=True, kw_only=True):
    """The reason is required and kept in the audit log."""

    basis: ClassVar[Basis] = chosen("closed-months")

    vendor: BilledVendor
    reason: Annotated[str, REASON]


class OverriddenBlocker(Body, frozen=True, kw_only=True):
    """What was missing: the id of a record or `month`, and the reason."""

    basis: ClassVar[Basis] = chosen("closed-months")

    field: str
    rule: str


class MonthClosed(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("closed-months")

    overridden: list[OverriddenBlocker]  # empty if the month was ready


class StepState(StrEnum):
    done = "done"
    ready = "ready"  # can be done now; `blockers` tells what is missing
    blocked = "blocked"  # something else has to be done first
    not_needed = "not_needed"


StepName = Literal[
    "arrived",
    "placed",
    "decided",
    "rates",
    "created",
    "checked",
    "approved",
    "sent",
    "closed",
    "drifted",
    "corrected",
]


class StepBlocker(Body, frozen=True, kw_only=True):
    """What is missing: a reason, the records it concerns, and where to look at them."""

    basis: ClassVar[Basis] = chosen("month-steps")

    reason: Annotated[str, described("a code that stays the same between versions")]
    text: Annotated[str, described("the reason and what to do, in English")]
    count: Annotated[int, described("how many records it concerns; 1 if it concerns the month")]
    subjects: Annotated[list[str], described("ids of imports, runs, groups, accounts or entries")]
    link: Annotated[str, described("the path of the API that lists these records")]


class MonthStep(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("month-steps")

    step: StepName
    state: StepState
    blockers: list[StepBlocker]
    done_by: Annotated[str | None, described("the name or id of who did it last; null if open")]
    done_time: str | None


class MonthRate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("month-steps")

    exchange_rate: Annotated[Decimal, described("yen per dollar")]
    groups: Annotated[int, described("billing groups for which it is saved")]


class MonthStatus(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("month-steps")

    month: str
    vendor: BilledVendor
    state: Literal["open", "parked", "closed"]
    provisional: bool  # the vendor has not invoiced all of its costs yet
    has_invoices: bool
    can_be_closed: Annotated[bool | None, described("null in a list without steps")]
    exchange_rates: Annotated[
        list[MonthRate],
        described("the saved rates, the most used first; empty in a list without steps"),
    ]
    steps: Annotated[list[MonthStep], described("empty in a list without steps")]
