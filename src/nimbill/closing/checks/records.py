"""Queries for the checks of a month: invoices of two months, and accounts without costs."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.records import USAGE, cost_sums
from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_tenant
from nimbill.invoicing.documents.stored_invoices import (
    invoice_revisions,
    invoices,
    join_revision,
)

_invoices, _revisions, _accounts = invoices.c, invoice_revisions.c, cloud_accounts.c
_GROUP_COLUMNS = (
    billing_groups.c.company_id,
    billing_groups.c.billinggroup_id,
    billing_groups.c.billinggroup_name,
)


async def list_invoice_figures(
    db: AsyncConnection, scope: TenantScope, months: Collection[str], vendors: Collection[str]
) -> Sequence[Row]:
    """List the figures of current invoices that are not cancelled, of visible groups."""
    stmt = (
        sa.select(
            *_GROUP_COLUMNS,
            _invoices.month,
            _invoices.vendor,
            _invoices.number,
            _revisions.currency,
            _revisions.cost_currency,
            _revisions.exchange_rate,
            _revisions.pre_tax,
            _revisions.vendor_cost,
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(billing_groups, _join_group(invoices))
        .where(
            of_tenant(invoices, scope),
            is_any_of(_invoices.month, months),
            is_any_of(_invoices.vendor, vendors),
            _invoices.cancelled_time.is_(None),
            *filter_visible_groups(scope),
        )
        .order_by(billing_groups.c.billinggroup_id, _invoices.vendor, _invoices.month)
    )
    return (await db.execute(stmt)).all()


async def find_groups_with_costs(
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> set[tuple[str, str]]:
    """Return those of the groups whose accounts have costs, with the vendor."""
    stmt = (
        sa.select(_accounts.company_id, _accounts.vendor)
        .distinct()
        .where(
            of_tenant(cloud_accounts, scope),
            is_any_of(_accounts.company_id, company_ids),
            sa.exists().where(*_filter_costs(month)),
        )
    )
    return {(row.company_id, row.vendor) for row in await db.execute(stmt)}


async def list_accounts_without_costs(
    db: AsyncConnection, scope: TenantScope, month: str, before: str, vendors: Collection[str]
) -> Sequence[Row]:
    """List accounts of visible groups with usage in the month before and without any in this one.

    Columns: the group, vendor, customer_id, name, cost_before and currency. Each account is looked
    up in the index of the sums, because adding up all sums of a month takes seconds.
    """
    costs = sa.select(
        sa.func.trim_scale(sa.func.sum(cost_sums.c.cost), type_=sa.Numeric).label("cost_before"),
        sa.func.min(cost_sums.c.currency).label("currency"),
    ).where(*_filter_costs(before))
    of_account = costs.lateral()
    stmt = (
        sa.select(
            *_GROUP_COLUMNS,
            _accounts.vendor,
            _accounts.customer_id,
            _accounts.name,
            of_account.c.cost_before,
            of_account.c.currency,
        )
        .join_from(cloud_accounts, billing_groups, _join_group(cloud_accounts))
        .join(of_account, sa.true())
        .where(
            of_tenant(cloud_accounts, scope),
            is_any_of(_accounts.vendor, vendors),
            sa.exists().where(*_filter_costs(before)),
            sa.not_(sa.exists().where(*_filter_costs(month))),
            *filter_visible_groups(scope),
        )
        .order_by(billing_groups.c.billinggroup_id, _accounts.vendor, _accounts.customer_id)
    )
    return (await db.execute(stmt)).all()


def _join_group(table: sa.Table) -> sa.ColumnElement[bool]:
    return (billing_groups.c.organisation_id == table.c.organisation_id) & (
        billing_groups.c.company_id == table.c.company_id
    )


def _filter_costs(month: str) -> list[sa.ColumnElement[bool]]:
    """The usage of an account of the outer query."""
    return [
        cost_sums.c.organisation_id == _accounts.organisation_id,
        cost_sums.c.vendor == _accounts.vendor,
        cost_sums.c.customer_id == _accounts.customer_id,
        cost_sums.c.month == month,
        cost_sums.c.kind == USAGE,
    ]
