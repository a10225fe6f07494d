"""The newest invoices: their amounts by billing group, and when the last one was created."""

from collections import defaultdict
from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding, convert_currency, round_amount, sum_exact, to_exact
from nimbill.invoicing.documents.stored_invoices import invoice_revisions, invoices

_invoices, _revisions = invoices.c, invoice_revisions.c


async def load_latest_pre_tax(db: AsyncConnection, scope: TenantScope) -> dict[str, Decimal]:
    """Load the amounts before tax of each group's newest invoiced month, by company_id.

    Amounts are in the invoices' currency. If the vendors' invoices use two currencies, the sum is
    in yen, converted at the rate of each invoice.
    """
    rows_by_group: dict[str, list[Row]] = defaultdict(list)
    for row in await db.execute(_select_latest(scope)):
        rows_by_group[row.company_id].append(row)
    return {company_id: _sum_pre_tax(rows) for company_id, rows in rows_by_group.items()}


def _sum_pre_tax(rows: list[Row]) -> Decimal:
    currencies = {Currency(row.currency) for row in rows}
    currency = currencies.pop() if len(currencies) == 1 else Currency.jpy
    total = sum_exact(
        convert_currency(
            to_exact(row.pre_tax), Currency(row.currency), currency, to_exact(row.exchange_rate)
        )
        for row in rows
    )
    return round_amount(total, currency, Rounding.half_up)


def _select_latest(scope: TenantScope) -> sa.Select[*tuple[object, ...]]:
    newest = (
        sa.select(_invoices.company_id, sa.func.max(_invoices.month).label("month"))
        .where(of_tenant(invoices, scope), _invoices.cancelled_time.is_(None))
        .group_by(_invoices.company_id)
        .subquery()
    )
    return (
        sa.select(
            _invoices.company_id, _revisions.currency, _revisions.pre_tax, _revisions.exchange_rate
        )
        .join_from(
            invoices,
            newest,
            (newest.c.company_id == _invoices.company_id) & (newest.c.month == _invoices.month),
        )
        .join(
            invoice_revisions,
            (_revisions.organisation_id == _invoices.organisation_id)
            & (_revisions.month == _invoices.month)
            & (_revisions.company_id == _invoices.company_id)
            & (_revisions.vendor == _invoices.vendor)
            & (_revisions.revision == _invoices.revision),
        )
        .join(
            billing_groups,
            (billing_groups.c.organisation_id == _invoices.organisation_id)
            & (billing_groups.c.company_id == _invoices.company_id),
        )
        .where(
            of_tenant(invoices, scope),
            _invoices.cancelled_time.is_(None),
            *filter_visible_groups(scope),
        )
        .order_by(_invoices.company_id, _invoices.vendor)
    )


async def find_last_issue_time(db: AsyncConnection, scope: TenantScope) -> datetime | None:
    """When the youngest revision of any invoice was created."""
    stmt = sa.select(sa.func.max(invoice_revisions.c.create_time)).where(
        of_tenant(invoice_revisions, scope)
    )
    issued_at: datetime | None = (await db.execute(stmt)).scalar_one()
    return issued_at
