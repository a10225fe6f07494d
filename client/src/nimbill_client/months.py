"""Months: their steps, tie-out, closing and reopening."""

from collections.abc import Iterator

from nimbill_client.bodies import MonthClosed, MonthStatus, Success, TieOut
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import BilledVendor, Vendor


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
