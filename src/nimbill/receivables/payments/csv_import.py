"""Records payments from a CSV file: all of its lines, or none."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records as audit
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import Currency
from nimbill.foundation.ids import new_id
from nimbill.foundation.money import add_decimals
from nimbill.http.csv_bodies import (
    CsvColumn,
    CsvRecord,
    CsvTable,
    ParsedRecord,
    describe_creation,
    parse_records,
    read_csv_table,
)
from nimbill.invoicing.documents.invoice_state import InvoiceState, find_state
from nimbill.invoicing.documents.stored_invoices import lock_invoices
from nimbill.receivables.payments import records
from nimbill.receivables.payments.bodies import CsvPayment, Payment
from nimbill.receivables.payments.operations import build_payment, load_today, read_balance
from nimbill.receivables.payments.payment_rules import (
    Balance,
    InvoiceNumber,
    exceeds_balance,
    find_payment_violations,
    parse_csv_amount,
    parse_csv_date,
    parse_invoice_no,
    round_to_unit,
)

COLUMNS = (
    CsvColumn("invoice_no", ("InvoiceNo", "請求書番号"), required=True),
    CsvColumn("amount", ("Amount", "入金額"), required=True, convert=parse_csv_amount),
    CsvColumn("paid_on", ("PaidOn", "入金日"), required=True, convert=parse_csv_date),
    CsvColumn("note", ("Note", "メモ")),
    CsvColumn("again", ("Again", "再登録"), convert=str.lower),
)
AGAIN_RULE = "yes, if this is another payment with the same invoice, amount, date and note"


class PaymentKey(NamedTuple):
    """What makes two payments of an invoice equal."""

    amount: Decimal
    paid_on: str
    note: str | None


@dataclass(slots=True)
class OpenInvoice:
    """An invoice under its lock, and what earlier lines of the file add to it."""

    period: BillingPeriod
    company_id: str
    state: InvoiceState
    currency: Currency
    balance: Balance
    payments: set[PaymentKey]


class PaidLine(NamedTuple):
    record: CsvRecord
    payment: records.NewPayment


async def record_payments_from_csv(
    db: AsyncConnection,
    scope: TenantScope,
    content: bytes,
    *,
    actor: Mapping[str, Any],
    by: str,
) -> list[Payment]:
    """Record one payment per line, each with its own audit row. `actor` is for the audit log."""
    # A large file takes long enough to delay other requests of this process.
    table = await asyncio.to_thread(read_csv_table, content, COLUMNS)
    parsed = await asyncio.to_thread(parse_records, table, CsvPayment)
    invoices = await _lock_open_invoices(db, scope, parsed)
    today = await load_today(db, scope)
    found = [_check_line(table, line, invoices, today) for line in parsed]
    table.refuse_errors("payments_refused")

    lines = [line for line in found if line is not None]
    await records.add_payments(db, scope, [line.payment for line in lines], by=by)
    await audit.append_entries(db, [_describe_line(actor, line) for line in lines])
    stored = await records.load_payments(db, scope, [line.payment.payment_id for line in lines])
    return [build_payment(stored[line.payment.payment_id]) for line in lines]


async def _lock_open_invoices(
    db: AsyncConnection, scope: TenantScope, parsed: Sequence[ParsedRecord[CsvPayment]]
) -> dict[InvoiceNumber, OpenInvoice]:
    """Lock and load the invoices that the lines name and the caller may see.

    Months and vendors are locked in their order, so that two files do not wait for each other.
    """
    named = {parse_invoice_no(line.body.invoice_no) for line in parsed}
    numbers = sorted(number for number in named if number is not None)
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in await records.find_invoices(db, scope, numbers):
        groups[row.month, row.vendor].append(row.company_id)
    invoices = {}
    for (month, vendor), company_ids in sorted(groups.items()):
        period = BillingPeriod(month, vendor)
        await lock_invoices(db, scope, period, company_ids)
        keys: defaultdict[str, set[PaymentKey]] = defaultdict(set)
        for row in await records.list_payments_of_invoices(db, scope, period, company_ids):
            if row.reversed_time is None:
                keys[row.company_id].add(PaymentKey(row.amount, row.paid_on, row.note))
        for row in await records.load_balances(db, scope, period, company_ids):
            number = InvoiceNumber(month, row.number)
            invoices[number] = _read_invoice(row, period, keys[row.company_id])
    return invoices


def _read_invoice(row: Row, period: BillingPeriod, keys: set[PaymentKey]) -> OpenInvoice:
    return OpenInvoice(
        period=period,
        company_id=row.company_id,
        state=find_state(row.sent_time, row.cancelled_time),
        currency=Currency(row.currency),
        balance=read_balance(row),
        payments=keys,
    )


def _check_line(
    table: CsvTable,
    line: ParsedRecord[CsvPayment],
    invoices: Mapping[InvoiceNumber, OpenInvoice],
    today: date,
) -> PaidLine | None:
    """Return the payment of a line, or add its errors to the table."""
    record, body = line
    number = parse_invoice_no(body.invoice_no)
    invoice = None if number is None else invoices.get(number)
    if invoice is None:
        table.add_error(record, "invoice_no", "an existing invoice")
        return None
    if invoice.state is not InvoiceState.sent:
        rule = "an invoice that was sent and is not cancelled"
        table.add_error(record, "invoice_no", rule, is_conflict=True)
        return None
    violations = list(find_payment_violations(body.amount, body.paid_on, invoice.currency, today))
    for violation in violations:
        table.add_error(record, violation.field, violation.rule)
    if violations:
        return None
    amount = round_to_unit(body.amount, invoice.currency)
    if not _add_to_invoice(table, record, body, invoice, amount):
        return None
    payment = records.NewPayment(
        payment_id=new_id("pay"),
        period=invoice.period,
        company_id=invoice.company_id,
        currency=invoice.currency,
        amount=amount,
        paid_on=body.paid_on,
        note=body.note,
    )
    return PaidLine(record, payment)


def _add_to_invoice(
    table: CsvTable, record: CsvRecord, body: CsvPayment, invoice: OpenInvoice, amount: Decimal
) -> bool:
    """Subtract the payment from the balance; refuse it if it is equal to another or too large."""
    key = PaymentKey(amount, body.paid_on, body.note)
    if key in invoice.payments and body.again is None:
        table.add_error(record, "again", AGAIN_RULE, is_conflict=True)
        return False
    if exceeds_balance(amount, invoice.balance):
        left = f"{invoice.balance.open_balance:f} {invoice.currency.value.upper()}"
        rule = f"at most the open balance, which is {left}; record an overpayment by hand"
        table.add_error(record, "amount", rule, is_conflict=True)
        return False
    invoice.payments.add(key)
    paid = add_decimals(invoice.balance.paid, amount)
    invoice.balance = invoice.balance._replace(paid=paid)
    return True


def _describe_line(actor: Mapping[str, Any], line: PaidLine) -> audit.AuditedChange:
    payment = line.payment
    invoice = f"invoice/{payment.period.month}/{payment.company_id}/{payment.period.vendor}"
    return describe_creation(
        actor,
        line.record,
        action="record_payment",
        resource=f"{invoice}/payments/{payment.payment_id}",
        company_id=payment.company_id,
    )
