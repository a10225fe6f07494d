"""What a customer has left to pay, and which invoices it does not owe any more."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.invoicing.documents.invoice_state import InvoiceState, find_state
from nimbill.invoicing.documents.replaced_invoices import list_replaced_of_months
from nimbill.invoicing.documents.stored_invoices import format_invoice_no
from nimbill.portal.invoices.bodies import CustomerPayment, CustomerReplacedInvoice
from nimbill.receivables.payments.operations import read_balance
from nimbill.receivables.payments.payment_rules import count_days_overdue
from nimbill.receivables.payments.records import list_sent_balances

InvoiceKey = tuple[str, str, str]  # month, company_id and vendor


@dataclass(frozen=True, slots=True)
class InvoiceOutcomes:
    """What became of invoices after they were sent."""

    payments: Mapping[InvoiceKey, CustomerPayment]  # empty if the organisation does not show them
    states: Mapping[InvoiceKey, InvoiceState]  # of those that are not cancelled
    replaced: Mapping[InvoiceKey, list[CustomerReplacedInvoice]]

    def find_state(self, key: InvoiceKey, *, is_cancelled: bool) -> InvoiceState:
        if is_cancelled:
            return InvoiceState.cancelled
        return self.states.get(key, InvoiceState.created)


async def load_outcomes(
    db: AsyncConnection, scope: TenantScope, months: Collection[str]
) -> InvoiceOutcomes:
    settings = await load_settings(db, scope)
    today = clock.local_date(clock.now(), settings.time_zone)
    payments, states = {}, {}
    for row in await list_sent_balances(db, scope, months):
        key = (row.month, row.company_id, row.vendor)
        states[key] = find_state(
            row.sent_time, row.cancelled_time, total=row.total, credited=row.credited or None
        )
        if settings.portal_shows_payments:
            balance = read_balance(row)
            days = count_days_overdue(balance.open_balance, row.due_date, today)
            payments[key] = CustomerPayment(
                state=balance.state, open_balance=balance.open_balance, overdue=days > 0
            )
    replaced: defaultdict[InvoiceKey, list[CustomerReplacedInvoice]] = defaultdict(list)
    for row in await list_replaced_of_months(db, scope, months):
        replaced[row.month, row.company_id, row.vendor].append(
            CustomerReplacedInvoice(
                invoice_no=format_invoice_no(row.month, row.number),
                state=InvoiceState.replaced,
                replacement_no=format_invoice_no(row.month, row.replacement_number),
                replaced_time=clock.format_timestamp(row.replaced_time),
            )
        )
    return InvoiceOutcomes(payments, states, dict(replaced))
