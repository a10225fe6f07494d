"""Record a payment of a sent invoice."""

from __future__ import annotations

from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import (
    CORE,
    create_invoice,
    create_starting_records,
    find_group,
    send_invoice,
)

MONTH = "2025-12"  # no other operation creates invoices of this month


class Paying(Operation):
    name = "payment"
    answer = 201
    visible_state = (
        stored("payments", "count(*), sum(amount)::text"),
        audited("record_payment"),
    )

    def prepare(self, organisation: Organisation) -> None:
        create_starting_records(organisation)
        group = find_group(organisation)
        create_invoice(organisation, group, MONTH)
        send_invoice(organisation, group, MONTH)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        path = f"{CORE}/invoices/{MONTH}/{find_group(organisation)}/aws/payments"
        body = {"amount": number, "paid_on": "2026-01-30"}
        return KeyedRequest(path, body, f"payment-{number}")
