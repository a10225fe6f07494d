"""Creates what mailed invoices need: contacts, sent invoices and mails."""

from __future__ import annotations

import json
from dataclasses import replace

from nimbill.foundation.ids import new_id
from tests.contract.month_factories import make_invoiced_group, make_sent_group
from tests.contract.tenants import PLAIN_VALUES, Tenant, make_contact

OF_SENT_INVOICES = (
    "cancel_invoice",
    "issue_credit_note",
    "list_deliveries_of_invoice",
    "publish_invoice",
    "replace_invoice",
)


def make_mailable_group(tenant: Tenant) -> str:
    """A group with an invoice and a contact."""
    company_id = make_invoiced_group(tenant)
    make_contact(replace(tenant, group=company_id))
    return company_id


def make_delivery(tenant: Tenant) -> str:
    """A failed mail with a sent invoice."""
    company_id = make_sent_group(tenant)
    group = replace(tenant, group=company_id)
    make_contact(group)
    return add_delivery(group)


def add_delivery(group: Tenant) -> str:
    """A failed mail with the invoice of the group in PLAIN_VALUES."""
    delivery_id = new_id("dlv")
    recipient = {
        "name": group.word("d"),
        "email": f"{group.word('d')}@example.com",
        "send_as": "to",
    }
    group.add(
        "invoice_deliveries",
        delivery_id=delivery_id,
        month=PLAIN_VALUES["month"],
        company_id=group.group,
        vendor=PLAIN_VALUES["vendor"],
        revision=1,
        method="pdf",
        state="failed",
        message_id=f"{delivery_id}@example.com",
        language="ja",
        recipients=json.dumps([recipient]),
        refused="[]",
        subject=group.word("d"),
        text=group.word("d"),
        attachment=group.word("d"),
        attempts=1,
        created_by="root",
    )
    return delivery_id
