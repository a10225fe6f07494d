"""Issue a credit note for a sent invoice; an endpoint for webhooks is told about it."""

from __future__ import annotations

from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import (
    change,
    create_invoice,
    create_starting_records,
    find_group,
    send_invoice,
)

CORE = "/m/core"
MONTH = "2026-02"  # no other operation creates invoices of this month


class Crediting(Operation):
    name = "credit"
    answer = 201
    visible_state = (
        stored("credit_notes", "issue_month, number, month, vendor, total::text"),
        stored("credit_note_counters", "issue_month, last_number"),
        stored(
            "webhook_events", "event_type, count(*)", "event_type = 'credit_note.issued' GROUP BY 1"
        ),
        stored("webhook_deliveries", "count(*)", f"object LIKE 'invoice/{MONTH}/%'"),
        audited("issue_credit_note"),
    )

    def prepare(self, organisation: Organisation) -> None:
        """Create, send and announce one invoice."""
        create_starting_records(organisation)
        group = find_group(organisation)
        create_invoice(organisation, group, MONTH)
        send_invoice(organisation, group, MONTH)
        endpoint = {"url": "https://receiver.invalid/"}  # no name server knows it
        change(organisation, "POST", "/webhooks", endpoint)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        path = f"{CORE}/invoices/{MONTH}/{find_group(organisation)}/aws/credit-notes"
        amounts = [{"description": "returned", "amount": number, "tax_free": False}]
        body = {"kind": "manual", "reason": "returned", "amounts": amounts}
        return KeyedRequest(path, body, f"credit-{number}")
