"""Reserved instances, whose fees can be moved to the customers who use them."""

from nimbill_client.bodies import ReservedInstanceRecord, Success
from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor

PATH = "/m/core/ri/purchased"


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
