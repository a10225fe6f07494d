"""Seed steps after an invoice: contacts, mails, a correction, and a webhook endpoint."""

import csv
from decimal import Decimal
from io import StringIO

from nimbill.demo.api_client import DemoClient, existing_allowed
from nimbill.demo.cost_deliveries import VENDORS
from nimbill.demo.fixtures import CONTACTS, MAILED_CUSTOMERS
from nimbill.demo.resellers import AOZORA, DemoReseller
from nimbill_client import (
    InvoiceSetting,
    SendInvoicesRequest,
    WebhookEndpointBody,
)

CONTACT_COLUMNS = ("billinggroup_id", "name", "email", "send_as")
CORRECTED_TERMS = ("BG-0003", "aws", Decimal("0.02"))  # customer, vendor, additional discount
CORRECTION_REASON = "割引率の適用誤り"
WEBHOOK = WebhookEndpointBody(
    url="https://hooks.demo.invalid/nimbill",
    description="会計システム連携（デモには受信側がないため無効です）",
    event_types=["invoice.sent", "invoice.cancelled"],
    enabled=False,
)


def add_contacts(client: DemoClient, reseller: DemoReseller) -> None:
    """Adds the contacts of the first reseller from a CSV file."""
    if reseller is not AOZORA:
        return
    lines = [(group, *contact) for group, contacts in CONTACTS.items() for contact in contacts]
    content = StringIO()
    csv.writer(content).writerows([CONTACT_COLUMNS, *lines])
    with existing_allowed():
        client.api.contacts.create_from_csv(content.getvalue().encode(), key="demo-contacts")


def mail_invoices(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    """Mails the invoices of some customers; the demo writes mails to the outbox folder."""
    companies = client.company_ids()
    for vendor in VENDORS:
        receivers = [
            companies[customer.billinggroup_id]
            for customer in reseller.list_customers(vendor)
            if customer.billinggroup_id in MAILED_CUSTOMERS
        ]
        request = SendInvoicesRequest(vendor=vendor, method="pdf", company_ids=receivers)
        if receivers:
            with existing_allowed():
                client.api.deliveries.send(month, request, key=f"demo-mails-{month}-{vendor}")


def correct_invoice(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    """A mailed invoice had too little discount: a credit note returns the difference."""
    group, vendor, more = CORRECTED_TERMS
    (customer,) = [each for each in reseller.customers if each.billinggroup_id == group]
    setting = dict(customer.invoices[vendor])
    setting["discount_rate"] = Decimal(setting["discount_rate"]) + more
    with existing_allowed():
        client.api.corrections.credit_terms(
            month,
            client.company_ids()[group],
            vendor,
            InvoiceSetting(**setting),
            CORRECTION_REASON,
            key=f"demo-correction-{month}",
        )


def add_webhook(client: DemoClient, reseller: DemoReseller) -> None:
    """The demo works without a network, so that the endpoint is disabled."""
    if reseller is AOZORA and not client.api.webhooks.list_all():
        client.api.webhooks.create(WEBHOOK, key="demo-webhook")
