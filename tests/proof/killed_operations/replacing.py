"""Replace a sent invoice; each replacement is sent and replaced by the next one."""

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

MONTH = "2026-03"  # no other operation creates invoices of this month
_IS_MONTH = f"month = '{MONTH}'"


class Replacing(Operation):
    name = "replacement"
    answer = 201
    first_after_commit = True
    visible_state = (
        stored("invoices", "number, revision", _IS_MONTH),
        stored("replaced_invoices", "number, revision, replacement_number", _IS_MONTH),
        stored(
            "invoice_revisions",
            "revision, document::json ->> 'invoice_no', document::json ->> 'replaces', total::text",
            _IS_MONTH,
        ),
        stored("invoice_counters", "last_number", _IS_MONTH),
        stored(
            "webhook_events",
            "count(*)",
            f"event_type = 'invoice.created' AND payload LIKE '%{MONTH}%'",
        ),
        audited("replace_invoice"),
    )

    def prepare(self, organisation: Organisation) -> None:
        create_starting_records(organisation)
        create_invoice(organisation, find_group(organisation), MONTH)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        group = find_group(organisation)
        send_invoice(organisation, group, MONTH, revision=number)
        path = f"{CORE}/invoices/{MONTH}/{group}/aws/replacement"
        return KeyedRequest(path, {"reason": "wrong"}, f"replacement-{number}")
