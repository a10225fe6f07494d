"""What a customer has left to pay, if the organisation shows it in the portal."""

from collections.abc import Collection

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.invoicing.payments.operations import read_balance
from nimbill.invoicing.payments.payment_rules import count_days_overdue
from nimbill.invoicing.payments.records import list_sent_balances
from nimbill.portal.invoices.bodies import CustomerPayment

basis = chosen("portal-invoices")


async def load_payments(
    db: AsyncConnection, scope: TenantScope, months: Collection[str]
) -> dict[tuple[str, str, str], CustomerPayment]:
    """Load what is left to pay of sent invoices, by month, company_id and vendor."""
    settings = await load_settings(db, scope)
    if not settings.portal_shows_payments:
        return {}
    today = clock.local_date(clock.now(), settings.time_zone)
    payments = {}
    for row in await list_sent_balances(db, scope, months):
        balance = read_balance(row)
        days = count_days_overdue(balance.open_balance, row.due_date, today)
        payments[row.month, row.company_id, row.vendor] = CustomerPayment(
            state=balance.state, open_balance=balance.open_balance, overdue=days > 0
        )
    return payments
