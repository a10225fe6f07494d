"""One-off charges and credits of a month, which count when somebody applies them."""

from collections.abc import Sequence
from decimal import Decimal

from nimbill_client.bodies import RecalculationRecord, Success
from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor

PATH = "/m/core/billinggroup/recalculation"


class Recalculation:
    """Entries that imports found and that invoices contain only if they are applied."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self, month: str, vendor: BilledVendor) -> list[RecalculationRecord]:
        call = Call(
            method="GET",
            path="/m/core/billinggroup/recalculation/{month}",
            ids={"month": month},
            query={"vendor": vendor},
        )
        return self._connection.fetch(list[RecalculationRecord], call)

    def apply(
        self,
        entry_ids: Sequence[str],
        month: str,
        vendor: BilledVendor,
        *,
        exchange_rate: Decimal,
        tax_free: bool = False,
        key: str | None = None,
    ) -> None:
        """Put the entries on the invoices of `month`, which may be later than their own."""
        body = {"month": month, "exchange_rate": exchange_rate, "tax_free": tax_free}
        self._change(entry_ids, vendor, {**body, "apply": True}, key)

    def unapply(
        self, entry_ids: Sequence[str], month: str, vendor: BilledVendor, *, key: str | None = None
    ) -> None:
        """Take the entries off the invoices again. The API requires a rate, but ignores it."""
        body = {"month": month, "exchange_rate": Decimal(0), "tax_free": False}
        self._change(entry_ids, vendor, {**body, "apply": False}, key)

    def _change(
        self,
        entry_ids: Sequence[str],
        vendor: BilledVendor,
        fields: dict[str, object],
        key: str | None,
    ) -> None:
        body = {"data": entry_ids, "vendor": vendor, **fields}
        self._connection.fetch(Success, Call(method="POST", path=PATH, body=body, key=key))
