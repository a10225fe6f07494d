"""The table of decisions about late costs, and the queries on it; a decision never changes."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.cloud_accounts.records import cloud_accounts, former_account_groups
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation import exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.late_cost import LateCost
from nimbill.invoicing.documents.stored_invoices import format_invoice_no, invoices

drift_decisions = sa.Table(
    "drift_decisions",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("import_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("decision", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    # the invoice that was corrected, and all late costs that are settled with this decision
    sa.Column("invoice_no", sa.Text),
    sa.Column("late_costs", sa.Text, nullable=False),
    # what the customer pays more, in the currency of the invoice
    sa.Column("currency", sa.Text),
    sa.Column("pre_tax", sa.Numeric),
    sa.Column("entry_id", sa.Text),
    sa.Column("entry_month", sa.Text),
    sa.Column("credit_note_id", sa.Text),
    sa.Column("replacement_no", sa.Text),
    sa.Column("decide_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("decided_by", sa.Text, nullable=False),
)

_decisions, _accounts, _former = drift_decisions.c, cloud_accounts.c, former_account_groups.c


class DriftDecisionKind(StrEnum):
    entry = "entry"  # netted on an invoice of an open month
    credit_note = "credit_note"
    replacement = "replacement"  # of the invoice by another one
    dismissed = "dismissed"


def encode_late_costs(late_costs: Collection[LateCost]) -> str:
    return exact_json.encode(late_costs).decode()


def decode_late_costs(text: str) -> tuple[LateCost, ...]:
    return _decoder.decode(text)


_decoder = msgspec.json.Decoder(tuple[LateCost, ...])


async def add_decision(db: AsyncConnection, scope: TenantScope, **values: Any) -> None:
    values |= {"organisation_id": scope.organisation_id, "decide_time": sa.func.now()}
    await db.execute(sa.insert(drift_decisions).values(values))


async def list_decisions_of_import(
    db: AsyncConnection, scope: TenantScope, import_id: str
) -> Sequence[Row]:
    stmt = sa.select(drift_decisions).where(
        of_tenant(drift_decisions, scope), _decisions.import_id == import_id
    )
    return (await db.execute(stmt.order_by(_decisions.company_id))).all()


async def list_decisions_of_month(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Sequence[Row]:
    """List the decisions about late costs of a month, the oldest first."""
    stmt = sa.select(drift_decisions).where(
        of_tenant(drift_decisions, scope), of_period(drift_decisions, period)
    )
    order = (_decisions.decide_time, _decisions.import_id, _decisions.company_id)
    return (await db.execute(stmt.order_by(*order))).all()


async def list_applied_decisions(
    db: AsyncConnection, scope: TenantScope, invoice: InvoiceDocument
) -> Sequence[Row]:
    """List the decisions that corrected an invoice or created it, the oldest first."""
    period = BillingPeriod(invoice.month, invoice.vendor)
    return [
        row
        for row in await list_decisions_of_month(db, scope, period)
        if row.company_id == invoice.company_id
        and row.decision != DriftDecisionKind.dismissed
        and invoice.invoice_no in (row.invoice_no, row.replacement_no)
    ]


async def load_invoice_numbers(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> dict[str, str]:
    """Map groups to the numbers of their current invoices."""
    stmt = sa.select(invoices.c.company_id, invoices.c.number).where(
        of_tenant(invoices, scope), of_period(invoices, period)
    )
    return {
        row.company_id: format_invoice_no(period.month, row.number)
        for row in await db.execute(stmt)
    }


async def load_settled_costs(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> dict[str, tuple[LateCost, ...]]:
    """Map groups to the late costs that are settled for their current invoices."""
    numbers = await load_invoice_numbers(db, scope, period)
    return {
        row.company_id: decode_late_costs(row.late_costs)
        for row in await list_decisions_of_month(db, scope, period)
        if row.decision != DriftDecisionKind.dismissed
        and numbers.get(row.company_id) in (row.invoice_no, row.replacement_no)
    }


def sum_entries(applied: Collection[Row]) -> Decimal | None:
    """Add what entries already charge for an invoice; None if there is no entry."""
    amounts = [row.pre_tax for row in applied if row.decision == DriftDecisionKind.entry]
    return sum_decimals(amounts) if amounts else None


async def find_owners(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, customer_ids: Collection[str]
) -> dict[str, str]:
    """Map accounts to the group whose invoice of the month they belong to.

    An account that left a group after its invoice was created belongs to that group.
    """
    present = sa.select(_accounts.customer_id, _accounts.company_id).where(
        of_tenant(cloud_accounts, scope),
        _accounts.vendor == period.vendor,
        is_any_of(_accounts.customer_id, customer_ids),
    )
    former = (
        sa.select(_former.customer_id, _former.company_id)
        .join_from(
            former_account_groups,
            invoices,
            (invoices.c.organisation_id == _former.organisation_id)
            & (invoices.c.company_id == _former.company_id)
            & (invoices.c.vendor == _former.vendor),
        )
        .where(
            of_tenant(former_account_groups, scope),
            _former.vendor == period.vendor,
            is_any_of(_former.customer_id, customer_ids),
            invoices.c.month == period.month,
            invoices.c.create_time < _former.left_at,
        )
        .order_by(_former.left_at.desc())
    )
    owners = {row.customer_id: row.company_id for row in await db.execute(present)}
    return owners | {row.customer_id: row.company_id for row in await db.execute(former)}


async def load_account_names(
    db: AsyncConnection, scope: TenantScope, vendor: str, customer_ids: Collection[str]
) -> dict[str, str]:
    stmt = sa.select(_accounts.customer_id, _accounts.name).where(
        of_tenant(cloud_accounts, scope),
        _accounts.vendor == vendor,
        is_any_of(_accounts.customer_id, customer_ids),
    )
    return {row.customer_id: row.name for row in await db.execute(stmt)}
