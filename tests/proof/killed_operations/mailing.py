"""Mail an invoice to its customer; each request mails the invoice of another month."""

from __future__ import annotations

from nimbill.foundation.calendar_month import add_months
from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import (
    CORE,
    change,
    create_invoice,
    create_starting_records,
    find_group,
)

BEFORE_FIRST_MONTH = "2009-12"  # no other operation creates invoices of these months
_IS_MONTH = "month < '2025-01'"


class Mailing(Operation):
    """What became of the mail is left out: after a kill it may be unknown, and is not repeated."""

    name = "mail"
    answer = 200
    first_after_commit = True
    visible_state = (
        stored("invoices", "month", f"{_IS_MONTH} AND sent_time IS NOT NULL"),
        stored("invoice_deliveries", "month, count(*)", f"{_IS_MONTH} GROUP BY 1"),
        stored("webhook_events", "count(*)", "event_type = 'invoice.sent'"),
        audited("send_invoice"),
    )

    def prepare(self, organisation: Organisation) -> None:
        create_starting_records(organisation)
        contact = {"name": "Accounts", "email": "accounts@customer.invalid"}
        change(organisation, "POST", f"/billinggroup/{find_group(organisation)}/contacts", contact)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        group, month = find_group(organisation), add_months(BEFORE_FIRST_MONTH, number)
        create_invoice(organisation, group, month)
        body = {"vendor": "aws", "method": "pdf", "company_ids": [group]}
        return KeyedRequest(f"{CORE}/invoices/{month}/deliveries", body, f"mail-{number}")
