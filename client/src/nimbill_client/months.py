"""Months: their steps, tie-out, closing and reopening."""

from collections.abc import Iterator
from decimal import Decimal

import msgspec

from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import BilledVendor, Record, Success, Vendor


class StepBlocker(Record, frozen=True, kw_only=True):
    reason: str
    text: str = ""
    count: int = 0
    subjects: list[str]
    link: str


class MonthStep(Record, frozen=True, kw_only=True):
    step: str
    state: str
    blockers: list[StepBlocker]
    done_by: str | None
    done_time: str | None


class MonthRate(Record, frozen=True, kw_only=True):
    exchange_rate: Decimal
    groups: int


class MonthStatus(Record, frozen=True, kw_only=True):
    month: str
    vendor: BilledVendor
    state: str
    provisional: bool
    has_invoices: bool
    can_be_closed: bool | None  # None without steps
    exchange_rates: list[MonthRate] = msgspec.field(default_factory=list)
    steps: list[MonthStep]


class OverriddenBlocker(Record, frozen=True, kw_only=True):
    field: str
    rule: str


class MonthClosed(Record, frozen=True, kw_only=True):
    overridden: list[OverriddenBlocker]


class TieOutPayer(Record, frozen=True, kw_only=True):
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


class TieOutDifference(Record, frozen=True, kw_only=True):
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


class TieOutEntryDifference(Record, frozen=True, kw_only=True):
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


class TieOutAccount(Record, frozen=True, kw_only=True):
    vendor: Vendor
    payer_id: str
    customer_id: str
    currency: str
    amount: Decimal


class TieOutLateCost(Record, frozen=True, kw_only=True):
    vendor: Vendor
    import_id: str
    company_id: str
    invoice_no: str | None
    decision: str
    currency: str
    amount: Decimal


class TieOutCounts(Record, frozen=True, kw_only=True):
    differences: int
    entry_differences: int
    accounts_in_no_group: int


class TieOut(Record, frozen=True, kw_only=True):
    month: str
    state: str
    ties: bool
    payers: list[TieOutPayer]
    differences: list[TieOutDifference]
    entry_differences: list[TieOutEntryDifference]
    accounts_in_no_group: list[TieOutAccount]
    late_costs: list[TieOutLateCost]
    counts: TieOutCounts


class Months:
    """A month is written as 2026-09. Each vendor's month is closed separately."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self, *, steps: bool = True) -> Iterator[MonthStatus]:
        """The newest first. Without steps the list takes a fraction of the time."""
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[MonthStatus],
                Call(method="GET", path="/m/core/months", query={**page, "steps": steps}),
            )
        )

    def read(self, month: str, vendor: BilledVendor) -> MonthStatus:
        """Read the state of a month, its steps and what blocks each of them."""
        call = Call(
            method="GET",
            path="/m/core/months/{month}",
            ids={"month": month},
            query={"vendor": vendor},
        )
        return self._connection.fetch(MonthStatus, call)

    def tie_out(self, month: str, vendor: Vendor | None = None) -> TieOut:
        """Compare what was invoiced with what the vendors charged."""
        call = Call(
            method="GET",
            path="/m/core/invoices/tie-out/{month}",
            ids={"month": month},
            query={"vendor": vendor},
        )
        return self._connection.fetch(TieOut, call)

    def close(
        self,
        month: str,
        vendor: BilledVendor,
        *,
        override: bool = False,
        reason: str | None = None,
        key: str | None = None,
    ) -> MonthClosed:
        """Close a month. Raises Conflict with what is missing, unless `override` is true."""
        body: dict[str, object] = {"vendor": vendor, "override": override}
        if reason is not None:
            body["reason"] = reason
        call = Call(
            method="POST",
            path="/m/core/invoices/close/{month}",
            ids={"month": month},
            body=body,
            key=key,
        )
        return self._connection.fetch(MonthClosed, call)

    def reopen(
        self, month: str, vendor: BilledVendor, reason: str, *, key: str | None = None
    ) -> None:
        call = Call(
            method="POST",
            path="/m/core/invoices/reopen/{month}",
            ids={"month": month},
            body={"vendor": vendor, "reason": reason},
            key=key,
        )
        self._connection.fetch(Success, call)
