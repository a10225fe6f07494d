"""Issue a credit note for a sent invoice; an endpoint for webhooks is told about it."""

from __future__ import annotations

from tests.customers.billing_groups.sample_bodies import FREE_FORMAT_ITEM, VALID_SETTING
from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import (
    create_starting_records,
    find_group,
)

CORE = "/m/core"
MONTH = "2026-02"  # no other operation creates invoices of this month
ITEM = FREE_FORMAT_ITEM | {"unit_cost": 1_000_000, "quantity": 100, "total": 100_000_000}


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
        settings = {"settings": {group: {"aws": VALID_SETTING}}, "internal": False}
        rate = {"vendor": "aws", "billing_groups": [group], "exchange_rate": 150}
        run = {"vendor": "aws", "group": [group], "bulk": False}
        endpoint = {"url": "https://receiver.invalid/"}  # no name server knows it
        for method, path, body in (
            ("POST", f"/billinggroup/{group}/freeformat/aws", {"additional_items": [ITEM]}),
            ("PUT", f"/invoices/save/{MONTH}", settings),
            ("PUT", f"/invoices/exchangerate/{MONTH}", rate),
            ("POST", f"/invoices/calculation/{MONTH}", run),
            ("PUT", f"/invoices/{MONTH}/{group}/aws/sent", {"revision": 1}),
            ("POST", "/webhooks", endpoint),
        ):
            answer = organisation.request_until_answered(method, CORE + path, json=body)
            assert answer.is_success, answer.text

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        path = f"{CORE}/invoices/{MONTH}/{find_group(organisation)}/aws/credit-notes"
        amounts = [{"description": "returned", "amount": number, "tax_free": False}]
        body = {"kind": "manual", "reason": "returned", "amounts": amounts}
        return KeyedRequest(path, body, f"credit-{number}")
