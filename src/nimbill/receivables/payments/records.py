"""Table and queries of payments; a stored payment never changes, but can be reversed once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.credit_notes.records import credit_notes
from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.list_query import ListColumns, ListQuery, Page, contains_text, fetch_page
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import Currency
from nimbill.invoicing.documents.invoice_number_text import select_invoice_no
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_group,
    join_invoice,
    join_revision,
    sum_by_invoice,
)
from nimbill.receivables.payments.payment_rules import BalanceFilter, InvoiceNumber

payments = sa.Table(
    "payments",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("payment_id", sa.Text, primary_key=True),
    # the invoice
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("amount", sa.Numeric, nullable=False),
    sa.Column("paid_on", sa.Text, nullable=False),
    sa.Column("note", sa.Text),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    # a payment that was recorded by mistake or returned by the bank
    sa.Column("reversed_time", sa.DateTime(timezone=True)),
    sa.Column("reversed_by", sa.Text),
    sa.Column("reverse_reason", sa.Text),
)

_payments, _groups = payments.c, billing_groups.c
_invoices, _revisions = invoices.c, invoice_revisions.c
_INVOICE_NO = select_invoice_no(_invoices.month, _invoices.number)
_BY_INVOICE_NO = sa.tuple_(_invoices.month, _invoices.number)
_KEY = ("month", "company_id", "vendor")  # of an invoice, in its organisation


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPayment:
    payment_id: str
    period: BillingPeriod
    company_id: str
    currency: Currency
    amount: Decimal
    paid_on: str
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentFilter:
    """Which payments to list; None selects all. Both dates are included."""

    first_day: str | None = None
    last_day: str | None = None
    company_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivableFilter:
    """Which sent invoices to list; what was due before `today` is overdue."""

    today: date
    balance: BalanceFilter = BalanceFilter.open
    company_id: str | None = None
    vendor: str | None = None


async def add_payments(
    db: AsyncConnection, scope: TenantScope, new: Sequence[NewPayment], *, by: str
) -> None:
    values = [
        {
            "organisation_id": scope.organisation_id,
            "payment_id": payment.payment_id,
            "month": payment.period.month,
            "company_id": payment.company_id,
            "vendor": payment.period.vendor,
            "currency": payment.currency.value,
            "amount": payment.amount,
            "paid_on": payment.paid_on,
            "note": payment.note,
            "created_by": by,
        }
        for payment in new
    ]
    await db.execute(sa.insert(payments).values(create_time=sa.func.now()), values)


async def reverse_payment(
    db: AsyncConnection, scope: TenantScope, payment_id: str, *, by: str, reason: str
) -> None:
    stmt = sa.update(payments).where(of_tenant(payments, scope), _payments.payment_id == payment_id)
    values = {"reversed_time": sa.func.now(), "reversed_by": by, "reverse_reason": reason}
    await db.execute(stmt.values(values))


def _select_payments(scope: TenantScope) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(*_payments, _invoices.number, _groups.billinggroup_name)
        .join_from(payments, invoices, join_invoice(payments))
        .join(billing_groups, join_group(payments))
        .where(of_tenant(payments, scope), *filter_visible_groups(scope))
    )


_COLUMNS = ListColumns(
    table=payments,
    order=(_payments.paid_on, _payments.create_time, _payments.payment_id),
    searched=(_INVOICE_NO, _payments.company_id, _groups.billinggroup_name, _payments.note),
    sortable={
        "paid_on": _payments.paid_on,
        "invoice_no": _BY_INVOICE_NO,
        "billinggroup_name": _groups.billinggroup_name,
        "amount": _payments.amount,
        "create_time": _payments.create_time,
    },
)


async def list_payments(
    db: AsyncConnection, scope: TenantScope, selected: PaymentFilter, query: ListQuery
) -> Page:
    """List by the date of payment, also those that were reversed."""
    stmt = _select_payments(scope)
    if selected.first_day is not None:
        stmt = stmt.where(_payments.paid_on >= selected.first_day)
    if selected.last_day is not None:
        stmt = stmt.where(_payments.paid_on <= selected.last_day)
    if selected.company_id is not None:
        stmt = stmt.where(_payments.company_id == selected.company_id)
    return await fetch_page(db, scope, stmt, _COLUMNS, query)


async def list_payments_of_invoices(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> Sequence[Row]:
    stmt = _select_payments(scope).where(
        of_period(payments, period), is_any_of(_payments.company_id, company_ids)
    )
    return (await db.execute(stmt.order_by(*_COLUMNS.order))).all()


async def load_payments(
    db: AsyncConnection, scope: TenantScope, payment_ids: Collection[str]
) -> dict[str, Row]:
    """Load payments of groups that the caller may see, by their ids."""
    stmt = _select_payments(scope).where(is_any_of(_payments.payment_id, payment_ids))
    return {row.payment_id: row for row in await db.execute(stmt)}


async def has_payments(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> bool:
    """Whether the invoice has a payment that was not reversed."""
    stmt = sa.select(
        sa.exists().where(
            of_tenant(payments, scope),
            of_period(payments, period),
            _payments.company_id == company_id,
            _payments.reversed_time.is_(None),
        )
    )
    return bool((await db.execute(stmt)).scalar_one())


class _Balances:
    """The current revisions of invoices with the sums of their credit notes and payments."""

    def __init__(self, scope: TenantScope) -> None:
        notes = sum_by_invoice(scope, credit_notes.c.total)
        paid = sum_by_invoice(scope, _payments.amount, _payments.reversed_time.is_(None))
        self.credited = sa.func.coalesce(notes.c.amount, 0)
        self.paid = sa.func.coalesce(paid.c.amount, 0)
        self.open_balance = _revisions.total - self.credited - self.paid
        self.stmt: sa.Select[*tuple[Any, ...]] = (
            sa.select(
                *(_invoices[name] for name in (*_KEY, "number", "sent_time", "cancelled_time")),
                *(_revisions[name] for name in ("currency", "total", "due_date")),
                self.credited.label("credited"),
                self.paid.label("paid"),
                _groups.billinggroup_name,
            )
            .join_from(invoices, invoice_revisions, join_revision(current=True))
            .join(billing_groups, join_group())
            .outerjoin(notes, join_invoice(notes))
            .outerjoin(paid, join_invoice(paid))
            .where(of_tenant(invoices, scope), *filter_visible_groups(scope))
        )


async def load_balances(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> Sequence[Row]:
    """Load the balances of invoices of groups that the caller may see."""
    stmt = _Balances(scope).stmt.where(
        of_period(invoices, period), is_any_of(_invoices.company_id, company_ids)
    )
    return (await db.execute(stmt)).all()


async def list_sent_balances(
    db: AsyncConnection, scope: TenantScope, months: Collection[str]
) -> Sequence[Row]:
    """List the balances of sent invoices of these months that are not cancelled."""
    stmt = _Balances(scope).stmt.where(_is_sent(), is_any_of(_invoices.month, months))
    return (await db.execute(stmt)).all()


async def find_invoices(
    db: AsyncConnection, scope: TenantScope, numbers: Collection[InvoiceNumber]
) -> Sequence[Row]:
    """Find invoices of groups that the caller may see, by their numbers, which never change."""
    stmt = (
        sa.select(*(_invoices[name] for name in _KEY))
        .join_from(invoices, billing_groups, join_group())
        .where(
            of_tenant(invoices, scope),
            *filter_visible_groups(scope),
            sa.tuple_(_invoices.month, _invoices.number).in_(numbers),
        )
    )
    return (await db.execute(stmt)).all()


def _is_sent() -> sa.ColumnElement[bool]:
    """Whether the customer owes the invoice: it was sent and is not cancelled."""
    return sa.and_(_invoices.sent_time.is_not(None), _invoices.cancelled_time.is_(None))


class _Receivables:
    """The sent invoices that a filter selects."""

    def __init__(self, scope: TenantScope, selected: ReceivableFilter) -> None:
        balances = _Balances(scope)
        self.balances = balances
        left = balances.open_balance
        self.is_overdue = sa.and_(_revisions.due_date < selected.today.isoformat(), left > 0)
        conditions = {
            BalanceFilter.open: left != 0,
            BalanceFilter.overdue: self.is_overdue,
            BalanceFilter.settled: left == 0,
            BalanceFilter.all: sa.true(),
        }
        self.stmt = balances.stmt.where(
            _is_sent(),
            conditions[selected.balance],
        )
        if selected.company_id is not None:
            self.stmt = self.stmt.where(_invoices.company_id == selected.company_id)
        if selected.vendor is not None:
            self.stmt = self.stmt.where(_invoices.vendor == selected.vendor)


_SEARCHED_RECEIVABLES = (_INVOICE_NO, _invoices.company_id, _groups.billinggroup_name)


async def list_receivables(
    db: AsyncConnection, scope: TenantScope, selected: ReceivableFilter, query: ListQuery
) -> Page:
    """List the selected invoices by due date."""
    receivables = _Receivables(scope, selected)
    columns = ListColumns(
        table=invoices,
        order=(_revisions.due_date.nulls_last(), _invoices.month, _invoices.number),
        searched=_SEARCHED_RECEIVABLES,
        sortable={
            "due_date": _revisions.due_date,
            "invoice_no": _BY_INVOICE_NO,
            "billinggroup_name": _groups.billinggroup_name,
            "total": _revisions.total,
            "open_balance": receivables.balances.open_balance,
        },
    )
    return await fetch_page(db, scope, receivables.stmt, columns, query)


async def sum_receivables(
    db: AsyncConnection, scope: TenantScope, selected: ReceivableFilter, search: str | None
) -> Sequence[Row]:
    """Add up the selected invoices by currency."""
    receivables = _Receivables(scope, selected)
    balances, total = receivables.balances, sa.func.sum
    stmt = receivables.stmt.where(of_tenant(invoices, scope))
    if search is not None:
        stmt = stmt.where(contains_text(_SEARCHED_RECEIVABLES, search))
    overdue = total(balances.open_balance).filter(receivables.is_overdue)
    summed = stmt.with_only_columns(
        _revisions.currency,
        sa.func.count().label("invoices"),
        total(_revisions.total).label("total"),
        total(balances.credited).label("credited"),
        total(balances.paid).label("paid"),
        total(balances.open_balance).label("open_balance"),
        sa.func.coalesce(overdue, 0).label("overdue"),
        maintain_column_froms=True,
    )
    ordered = summed.group_by(_revisions.currency).order_by(_revisions.currency)
    return (await db.execute(ordered)).all()
