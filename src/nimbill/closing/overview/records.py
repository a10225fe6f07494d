"""Queries of the short invoice list."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.credit_notes.records import credit_notes
from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope, of_period
from nimbill.foundation import calendar_month
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.invoice_approvals import is_approved
from nimbill.invoicing.documents.invoice_number_text import select_invoice_no
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_invoice,
    join_revision,
    sum_by_invoice,
)
from nimbill.invoicing.runs.month_settings import monthly_invoice_settings
from nimbill.invoicing.runs.outdated_invoices import is_outdated, join_saved_settings

_groups, _invoices, _revisions = billing_groups.c, invoices.c, invoice_revisions.c

# the invoice of the month before
_earlier_invoices = invoices.alias("earlier_invoices")
_earlier_revisions = invoice_revisions.alias("earlier_revisions")
_total_before = _earlier_revisions.c.total
_change = _revisions.total - _total_before

SORT_COLUMNS: dict[str, sa.ColumnElement[Any]] = {
    "billinggroup_id": _groups.billinggroup_id,
    "billinggroup_name": _groups.billinggroup_name,
    "invoice_no": _invoices.number,
    "pre_tax": _revisions.pre_tax,
    "total": _revisions.total,
    "change": _change,
    "change_rate": _change / sa.func.nullif(_total_before, 0),
    "create_time": _revisions.create_time,
}


class Selection(NamedTuple):
    """Which groups of a month are listed; None selects all."""

    period: BillingPeriod
    search: str | None
    invoiced: bool | None


def _select(scope: TenantScope, selection: Selection) -> sa.Select[*tuple[object, ...]]:
    """Select the visible groups that have an invoice, or an account of the vendor."""
    period, search, invoiced = selection
    has_account = sa.exists().where(
        cloud_accounts.c.organisation_id == _groups.organisation_id,
        cloud_accounts.c.company_id == _groups.company_id,
        cloud_accounts.c.vendor == period.vendor,
    )
    of_group = (
        (_invoices.organisation_id == _groups.organisation_id)
        & (_invoices.company_id == _groups.company_id)
        & of_period(invoices, period)
    )
    is_invoiced = _invoices.number.is_not(None)
    credited = sum_by_invoice(scope, credit_notes.c.total, of_period(credit_notes, period))
    stmt = (
        sa.select(
            _groups.company_id,
            _groups.billinggroup_id,
            _groups.billinggroup_name,
            _groups.company_name,
            _invoices.number,
            _invoices.revision,
            _invoices.sent_time,
            is_approved().label("is_approved"),
            _invoices.cancelled_time,
            _revisions.currency,
            _revisions.issue_date,
            _revisions.due_date,
            _revisions.pre_tax,
            _revisions.taxable,
            _revisions.tax_rate,
            _revisions.tax,
            _revisions.total,
            _total_before.label("total_before"),
            _change.label("change"),
            credited.c.amount.label("credited"),
            _revisions.warnings,
            _revisions.create_time,
            is_outdated().label("outdated"),
        )
        .join_from(billing_groups, invoices, of_group, isouter=True)
        .join(invoice_revisions, join_revision(current=True), isouter=True)
        .join(_earlier_invoices, _match_earlier_invoice(period.month), isouter=True)
        .join(_earlier_revisions, _match_earlier_revision(), isouter=True)
        .join(monthly_invoice_settings, join_saved_settings(), isouter=True)
        .join(credited, join_invoice(credited), isouter=True)
        .where(*filter_visible_groups(scope), is_invoiced | has_account)
    )
    if invoiced is not None:
        stmt = stmt.where(is_invoiced if invoiced else ~is_invoiced)
    if search is not None:
        stmt = stmt.where(_match_text(period.month, search))
    return stmt


def _match_earlier_invoice(month: str) -> sa.ColumnElement[bool]:
    earlier = _earlier_invoices.c
    return sa.and_(
        earlier.organisation_id == _invoices.organisation_id,
        earlier.month == calendar_month.add_months(month, -1),
        earlier.company_id == _invoices.company_id,
        earlier.vendor == _invoices.vendor,
    )


def _match_earlier_revision() -> sa.ColumnElement[bool]:
    """Match the current revision of the earlier invoice if it has the same currency."""
    earlier, revision = _earlier_invoices.c, _earlier_revisions.c
    return sa.and_(
        revision.organisation_id == earlier.organisation_id,
        revision.month == earlier.month,
        revision.company_id == earlier.company_id,
        revision.vendor == earlier.vendor,
        revision.revision == earlier.revision,
        revision.currency == _revisions.currency,
    )


def _match_text(month: str, search: str) -> sa.ColumnElement[bool]:
    number = select_invoice_no(sa.literal(month), _invoices.number)
    return sa.or_(
        *(
            column.icontains(search, autoescape=True)
            for column in (
                _groups.billinggroup_id,
                _groups.billinggroup_name,
                _groups.company_name,
                _groups.company_id,
            )
        ),
        _invoices.number.is_not(None) & number.contains(search, autoescape=True),
    )


async def list_page(
    db: AsyncConnection,
    scope: TenantScope,
    selection: Selection,
    *,
    sort: str,
    limit: int | None,
    offset: int,
) -> Sequence[Row]:
    """Groups without an invoice come last when the order is that of an invoice's column."""
    column = SORT_COLUMNS[sort.removeprefix("-")]
    ordered = column.desc() if sort.startswith("-") else column.asc()
    stmt = _select(scope, selection).order_by(ordered.nulls_last(), _groups.billinggroup_id)
    return (await db.execute(stmt.limit(limit).offset(offset))).all()


async def sum_by_currency(
    db: AsyncConnection, scope: TenantScope, selection: Selection
) -> Sequence[Row]:
    """Sum the selection; the row without a currency counts groups that owe no invoice."""
    rows = _select(scope, selection).subquery().c
    currency = sa.case((rows.cancelled_time.is_(None), rows.currency))
    stmt = (
        sa.select(
            currency.label("currency"),
            sa.func.count().label("groups"),
            *(
                sa.func.trim_scale(sa.func.sum(column), type_=sa.Numeric).label(column.name)
                for column in (rows.pre_tax, rows.tax, rows.total)
            ),
        )
        .group_by(currency)
        .order_by(currency)
    )
    return (await db.execute(stmt)).all()
