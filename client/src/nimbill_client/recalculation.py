"""One-off charges and credits of a month, which count when somebody applies them."""

from collections.abc import Sequence
from decimal import Decimal

from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor, Record, Success

PATH = "/m/core/billinggroup/recalculation"


class RecalculationRecord(Record, frozen=True, kw_only=True):
    id: str
    customer_id: str
    customer_name: str
    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    project_code: str | None
    calc_type: str
    platform_type: str
    description: str
    product_name: str
    product_code: str
    account_id: str
    currency_code: str
    unblended_cost: str
    time_interval: str
    usage_start: str
    apply: bool
    exchange_rate: Decimal | None
    tax_free: bool
    vendor: BilledVendor
    applied_month: str | None = None  # only with details


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
