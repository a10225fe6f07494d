"""Seed steps for payments: the invoices of closed months are sent and mostly paid."""

import csv
from collections.abc import Iterator
from decimal import ROUND_DOWN, Decimal
from io import StringIO

from nimbill.demo.api_client import DemoClient, existing_allowed
from nimbill.demo.invoice_steps import TIME_ZONE
from nimbill.demo.monthly_data import LAST_CLOSED_MONTH, PARTLY_PAID, UNPAID
from nimbill.demo.resellers import DemoReseller
from nimbill.foundation import clock
from nimbill.foundation.calendar_month import add_months
from nimbill_client import Receivable

COLUMNS = ("invoice_no", "amount", "paid_on", "note")


def send_and_pay_invoices(client: DemoClient, reseller: DemoReseller, month: str) -> None:
    """Marks the invoices of the month as sent and records their payments from a CSV file."""
    companies = client.company_ids()
    for customer in reseller.customers:
        for vendor in customer.contracts:
            company_id = companies[customer.billinggroup_id]
            key = f"demo-sent-{month}-{customer.billinggroup_id}-{vendor}"
            with existing_allowed():
                client.api.invoices.mark_as_sent(month, company_id, vendor, 1, key=key)
    groups = {company_id: group for group, company_id in companies.items()}
    lines = [
        line
        for receivable in client.api.payments.list_receivables()
        if receivable.month == month
        for line in _list_payments(receivable, groups[receivable.company_id])
    ]
    if lines:
        content = StringIO()
        csv.writer(content).writerows([COLUMNS, *lines])
        with existing_allowed():
            client.api.payments.record_from_csv(
                content.getvalue().encode(), key=f"demo-payments-{month}"
            )


def _list_payments(receivable: Receivable, group: str) -> Iterator[tuple[str, ...]]:
    share = Decimal(1)
    if receivable.month == LAST_CLOSED_MONTH:
        share = Decimal(0) if group in UNPAID else PARTLY_PAID.get(group, share)
    left = receivable.open_balance
    amount = left if share == 1 else (left * share).to_integral_value(ROUND_DOWN)
    if amount > 0 and receivable.paid == 0:
        paid_on = choose_day(receivable.month, int(group[-2:]))
        yield receivable.invoice_no, f"{amount:f}", paid_on, "銀行振込"


def choose_day(month: str, number: int) -> str:
    """A day at the end of the month after; at the latest today, which the service requires."""
    day = f"{add_months(month, 1)}-{20 + number % 9:02}"
    return min(day, clock.local_date(clock.now(), TIME_ZONE).isoformat())
