"""Reserved instances, whose fees can be moved to the customers who use them."""

from decimal import Decimal

from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor, Record, Success

PATH = "/m/core/ri/purchased"


class ReservedInstanceRecord(Record, frozen=True, kw_only=True):
    billinggroup_id: str
    billinggroup_name: str
    customer_id: str
    customer_name: str
    dest_customer_id: str
    id: str
    arn: str
    start: str
    end: str
    instance_type: str
    modification_status: str
    offer_class: str
    paid_by: str
    payment_option: str
    platform: str
    region: str
    scope: str
    service: str
    tenancy: str
    term_length: str
    usage_type: str
    vendor: BilledVendor
    zone: str
    normalization_factor: Decimal
    number: int
    unblended_rate: Decimal
    upfront_value: Decimal
    remove: bool
    disabled: bool
    # only with details
    currency: str = ""
    dest_customer_name: str = ""
    dest_company_id: str = ""


class ReservedInstances:
    """Reservations that imports found. Those of AWS can be moved."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self, vendor: BilledVendor) -> list[ReservedInstanceRecord]:
        call = Call(method="GET", path=PATH, query={"vendor": vendor})
        return self._connection.fetch(list[ReservedInstanceRecord], call)

    def move(
        self, reservation_id: str, customer_id: str, number: int, *, key: str | None = None
    ) -> None:
        """Move the fees of this number of instances to another account."""
        call = Call(
            method="POST",
            path="/m/core/ri/purchased/{ri_id}",
            ids={"ri_id": reservation_id},
            body={"customer_id": customer_id, "number": number, "vendor": "aws"},
            key=key,
        )
        self._connection.fetch(Success, call)

    def remove_move(self, reservation_id: str, *, key: str | None = None) -> None:
        """Return moved fees to the account that bought the reservation."""
        call = Call(
            method="POST",
            path="/m/core/ri/purchased/{ri_id}/remove",
            ids={"ri_id": reservation_id},
            query={"vendor": "aws"},
            key=key,
        )
        self._connection.fetch(Success, call)
