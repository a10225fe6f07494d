"""Records payments, takes them back and lists balances: first the checks in order."""

from datetime import date

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import calendar_date, clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.invoicing.documents.invoice_state import InvoiceState, find_state
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, lock_invoices
from nimbill.receivables.payments import records
from nimbill.receivables.payments.bodies import (
    InvoicePayments,
    Payment,
    PaymentRequest,
    Receivable,
    ReceivableTotal,
)
from nimbill.receivables.payments.payment_rules import (
    Balance,
    count_days_overdue,
    exceeds_balance,
    find_payment_violations,
    round_to_unit,
)


async def load_today(db: AsyncConnection, scope: TenantScope) -> date:
    """Return the date in the time zone of the organisation."""
    settings = await load_settings(db, scope)
    return clock.local_date(clock.now(), settings.time_zone)


async def record_payment(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    body: PaymentRequest,
    *,
    by: str,
) -> Payment:
    """Record a payment of a sent invoice.

    The lock of the invoice keeps two payments from paying the same balance.
    """
    await lock_invoices(db, scope, period, [company_id])
    invoice = await _load_invoice(db, scope, period, company_id)
    _refuse_unsent(invoice)
    currency, today = Currency(invoice.currency), await load_today(db, scope)
    refuse_if(list(find_payment_violations(body.amount, body.paid_on, currency, today)))
    balance = read_balance(invoice)
    if exceeds_balance(body.amount, balance) and not body.overpaid:
        raise Conflict(
            "exceeds_balance",
            f"The payment is more than the open balance, which is {balance.open_balance:f} "
            f"{currency.value.upper()}. Send overpaid true if the customer paid too much.",
        )
    payment = records.NewPayment(
        payment_id=new_id("pay"),
        period=period,
        company_id=company_id,
        currency=currency,
        amount=round_to_unit(body.amount, currency),
        paid_on=body.paid_on,
        note=body.note,
    )
    await records.add_payments(db, scope, [payment], by=by)
    stored = await records.load_payments(db, scope, [payment.payment_id])
    return build_payment(stored[payment.payment_id])


def _refuse_unsent(invoice: Row) -> None:
    state = find_state(invoice.sent_time, invoice.cancelled_time)
    if state is InvoiceState.created:
        raise Conflict(
            "not_sent", "The invoice was not sent yet. Mark it as sent before recording a payment."
        )
    if state is InvoiceState.cancelled:
        raise Conflict("invoice_cancelled", "The invoice is cancelled; nothing of it is owed.")


async def reverse_payment(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    payment_id: str,
    *,
    reason: str,
    by: str,
) -> Payment:
    """Take a payment back, once; it stays in the list."""
    await lock_invoices(db, scope, period, [company_id])
    payment = (await records.load_payments(db, scope, [payment_id])).get(payment_id)
    invoice = (period.month, period.vendor, company_id)
    if payment is None or (payment.month, payment.vendor, payment.company_id) != invoice:
        raise not_found()
    if payment.reversed_time is not None:
        raise Conflict(
            "already_reversed", "The payment is reversed already. This cannot be undone."
        )
    await records.reverse_payment(db, scope, payment_id, by=by, reason=reason)
    return build_payment((await records.load_payments(db, scope, [payment_id]))[payment_id])


async def load_invoice_payments(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> InvoicePayments:
    invoice = await _load_invoice(db, scope, period, company_id)
    rows = await records.list_payments_of_invoices(db, scope, period, [company_id])
    state, balance = find_state(invoice.sent_time, invoice.cancelled_time), read_balance(invoice)
    days = 0
    if state is InvoiceState.sent:
        today = await load_today(db, scope)
        days = count_days_overdue(balance.open_balance, invoice.due_date, today)
    return InvoicePayments(
        invoice_no=format_invoice_no(period.month, invoice.number),
        invoice_state=state,
        currency=Currency(invoice.currency),
        total=balance.total,
        credited=balance.credited,
        paid=balance.paid,
        open_balance=balance.open_balance,
        state=balance.state,
        due_date=invoice.due_date,
        overdue=days > 0,
        days_overdue=days,
        payments=[build_payment(row) for row in rows],
    )


async def _load_invoice(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> Row:
    rows = await records.load_balances(db, scope, period, [company_id])
    if not rows:
        raise not_found()
    return rows[0]


async def list_payments(
    db: AsyncConnection, scope: TenantScope, selected: records.PaymentFilter, query: ListQuery
) -> tuple[list[Payment], int]:
    days = {"from": selected.first_day, "to": selected.last_day}
    refuse_if(
        [
            Violation(name, calendar_date.RULE)
            for name, day in days.items()
            if day is not None and not calendar_date.is_date(day)
        ]
    )
    page = await records.list_payments(db, scope, selected, query)
    return [build_payment(row) for row in page.rows], page.total


async def list_receivables(
    db: AsyncConnection, scope: TenantScope, selected: records.ReceivableFilter, query: ListQuery
) -> tuple[list[Receivable], int]:
    page = await records.list_receivables(db, scope, selected, query)
    return [_build_receivable(row, selected.today) for row in page.rows], page.total


async def sum_receivables(
    db: AsyncConnection, scope: TenantScope, selected: records.ReceivableFilter, search: str | None
) -> list[ReceivableTotal]:
    rows = await records.sum_receivables(db, scope, selected, search)
    return [
        ReceivableTotal(
            currency=Currency(row.currency),
            invoices=row.invoices,
            total=row.total,
            credited=row.credited,
            paid=row.paid,
            open_balance=row.open_balance,
            overdue=row.overdue,
        )
        for row in rows
    ]


def read_balance(row: Row) -> Balance:
    return Balance(row.total, row.credited, row.paid)


def build_payment(row: Row) -> Payment:
    return Payment(
        payment_id=row.payment_id,
        invoice_no=format_invoice_no(row.month, row.number),
        month=row.month,
        company_id=row.company_id,
        billinggroup_name=row.billinggroup_name,
        vendor=row.vendor,
        currency=Currency(row.currency),
        amount=row.amount,
        paid_on=row.paid_on,
        note=row.note,
        create_time=clock.format_timestamp(row.create_time),
        created_by=row.created_by,
        reversed_time=row.reversed_time and clock.format_timestamp(row.reversed_time),
        reversed_by=row.reversed_by,
        reverse_reason=row.reverse_reason,
    )


def _build_receivable(row: Row, today: date) -> Receivable:
    balance = read_balance(row)
    return Receivable(
        invoice_no=format_invoice_no(row.month, row.number),
        month=row.month,
        company_id=row.company_id,
        billinggroup_name=row.billinggroup_name,
        vendor=row.vendor,
        currency=Currency(row.currency),
        total=balance.total,
        credited=balance.credited,
        paid=balance.paid,
        open_balance=balance.open_balance,
        state=balance.state,
        due_date=row.due_date,
        days_overdue=count_days_overdue(balance.open_balance, row.due_date, today),
    )
