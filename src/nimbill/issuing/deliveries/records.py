"""The table of mails with invoices, and the queries on it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.list_query import COMPLETE, ListColumns, ListQuery, Page, fetch_page
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.invoice_approvals import is_approved
from nimbill.invoicing.documents.invoice_number_text import select_invoice_no
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_group,
    join_revision,
)
from nimbill.invoicing.runs.month_settings import monthly_invoice_settings
from nimbill.invoicing.runs.outdated_invoices import is_outdated, join_saved_settings
from nimbill.issuing.deliveries.bodies import DeliveryState

invoice_deliveries = sa.Table(
    "invoice_deliveries",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("delivery_id", sa.Text, primary_key=True),
    # the invoice
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("cause", sa.Text),
    # the mail
    sa.Column("message_id", sa.Text, nullable=False),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("recipients", JSONB, nullable=False),
    sa.Column("refused", JSONB, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("attachment", sa.Text),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("delivered_time", sa.DateTime(timezone=True)),
)

# The resellers package knows who logs in, so its table is declared here again for reading.
_resellers = sa.table(
    "resellers",
    sa.column("organisation_id", sa.Text),
    sa.column("company_id", sa.Text),
    sa.column("meta", JSONB),
)
_OPEN_STATES = (DeliveryState.queued, DeliveryState.sending)

_deliveries, _invoices, _revisions = invoice_deliveries.c, invoices.c, invoice_revisions.c


async def list_candidates(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_ids: Collection[str] | None = None,
) -> Sequence[Row]:
    """List the invoices of visible groups, by number, with what decides whether they can be mailed.

    All of the period, or those of these groups.
    """
    stmt = (
        sa.select(
            _invoices.company_id,
            _invoices.revision,
            _invoices.sent_time.is_not(None).label("is_sent"),
            _invoices.cancelled_time.is_not(None).label("is_cancelled"),
            sa.func.coalesce(is_outdated(), sa.false()).label("is_outdated"),
            is_approved().label("is_approved"),
            _is_mailed_now().label("is_mailed_now"),
            _has_portal_login().label("has_portal_login"),
            _revisions.document,
            billing_groups.c.billinggroup_id,
            billing_groups.c.billinggroup_name,
            billing_groups.c.company_name,
            billing_groups.c.language,
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(billing_groups, join_group())
        .outerjoin(monthly_invoice_settings, join_saved_settings())
        .where(
            of_tenant(invoices, scope), of_period(invoices, period), *filter_visible_groups(scope)
        )
        .order_by(_invoices.number)
    )
    if company_ids is not None:
        stmt = stmt.where(is_any_of(_invoices.company_id, company_ids))
    return (await db.execute(stmt)).all()


def _is_mailed_now() -> sa.ColumnElement[bool]:
    return sa.exists().where(
        _deliveries.organisation_id == _invoices.organisation_id,
        _deliveries.month == _invoices.month,
        _deliveries.company_id == _invoices.company_id,
        _deliveries.vendor == _invoices.vendor,
        _deliveries.state.in_(_OPEN_STATES),
    )


def _has_portal_login() -> sa.ColumnElement[bool]:
    return sa.exists().where(
        _resellers.c.organisation_id == _invoices.organisation_id,
        _resellers.c.company_id == _invoices.company_id,
        _resellers.c.meta["invoice"].astext == "true",
    )


async def add_deliveries(
    db: AsyncConnection, scope: TenantScope, deliveries: Sequence[Mapping[str, Any]]
) -> None:
    rows = [{"organisation_id": scope.organisation_id, **each} for each in deliveries]
    await db.execute(sa.insert(invoice_deliveries), rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """Which mails of a month to list; None selects all."""

    vendor: str | None = None
    company_id: str | None = None
    state: DeliveryState | None = None


_INVOICE_NO = select_invoice_no(_invoices.month, _invoices.number)
_COLUMNS = ListColumns(
    table=invoice_deliveries,
    order=(_deliveries.create_time.desc(), _invoices.number, _deliveries.delivery_id),
    searched=(
        _INVOICE_NO,
        billing_groups.c.billinggroup_name,
        _deliveries.company_id,
        # the names and addresses, as their JSON text
        sa.cast(_deliveries.recipients, sa.Text),
    ),
    sortable={
        "invoice_no": _invoices.number,
        "billinggroup_name": billing_groups.c.billinggroup_name,
        "state": _deliveries.state,
        "create_time": _deliveries.create_time,
        "update_time": _deliveries.update_time,
    },
)


async def list_deliveries(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    selected: DeliveryFilter,
    query: ListQuery = COMPLETE,
) -> Page:
    """List the mails of visible groups with invoices of this month, the newest first."""
    stmt = _select(scope).where(_deliveries.month == month)
    for column, value in (
        (_deliveries.vendor, selected.vendor),
        (_deliveries.company_id, selected.company_id),
        (_deliveries.state, selected.state),
    ):
        if value is not None:
            stmt = stmt.where(column == value)
    return await fetch_page(db, scope, stmt, _COLUMNS, query)


async def find_delivery(db: AsyncConnection, scope: TenantScope, delivery_id: str) -> Row | None:
    """Find a mail; None if the caller cannot see its group."""
    stmt = _select(scope).where(_deliveries.delivery_id == delivery_id)
    return (await db.execute(stmt)).one_or_none()


def _select(scope: TenantScope) -> sa.Select[*tuple[object, ...]]:
    return (
        sa.select(
            invoice_deliveries,
            _invoices.number,
            _invoices.publish_time,
            _invoices.cancelled_time,
            billing_groups.c.billinggroup_name,
        )
        .join_from(
            invoice_deliveries,
            invoices,
            sa.and_(
                _invoices.organisation_id == _deliveries.organisation_id,
                _invoices.month == _deliveries.month,
                _invoices.company_id == _deliveries.company_id,
                _invoices.vendor == _deliveries.vendor,
            ),
        )
        .join(billing_groups, join_group())
        .where(of_tenant(invoice_deliveries, scope), *filter_visible_groups(scope))
    )


async def change_state(
    db: AsyncConnection,
    scope: TenantScope,
    delivery_id: str,
    *,
    before: Collection[DeliveryState],
    values: Mapping[str, Any],
) -> bool:
    """Return False if the mail is in none of the states `before` any more."""
    stmt = sa.update(invoice_deliveries).where(
        of_tenant(invoice_deliveries, scope),
        _deliveries.delivery_id == delivery_id,
        _deliveries.state.in_(before),
    )
    return bool((await db.execute(stmt.values(update_time=sa.func.now(), **values))).rowcount)
