"""Move reserved instances to another customer, one at a time."""

from __future__ import annotations

from tests.adjustments.reserved_instances.reservations import ARN, DEST, PATH
from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import create_starting_records


class Moving(Operation):
    name = "RI move"
    answer = 200
    visible_state = (
        stored("reserved_instances", "reservation_id, number", f"reservation_id = '{ARN}'"),
        stored("reservation_moves", "dest_customer_id, number, position, removed_after_closing"),
        stored("idempotency_keys", "key", "key LIKE 'move-%'"),
        audited("move_reserved_instance"),
    )

    def prepare(self, organisation: Organisation) -> None:
        create_starting_records(organisation)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        purchased = organisation.get(f"{PATH}?vendor=aws")
        (owned,) = (
            record["id"] for record in purchased if record["arn"] == ARN and not record["remove"]
        )
        body = {"customer_id": DEST, "number": 1, "vendor": "aws"}
        return KeyedRequest(f"{PATH}/{owned}", body, f"move-{number}")
