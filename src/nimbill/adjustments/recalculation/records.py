"""The table of recalculation entries and its queries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from msgspec import UNSET
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.bodies import RecalculationRecord
from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.projects.records import projects
from nimbill.database.list_query import COMPLETE, ListColumns, ListQuery, fetch_page
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import format_decimal
from nimbill.foundation.vendors import BilledVendor, Vendor

recalculation_entries = sa.Table(
    "recalculation_entries",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("entry_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("payer_id", sa.Text, nullable=False),
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("customer_id", sa.Text, nullable=False),
    sa.Column("calc_type", sa.Text, nullable=False),
    sa.Column("platform_type", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("product_name", sa.Text, nullable=False),
    sa.Column("product_code", sa.Text, nullable=False),
    sa.Column("currency_code", sa.Text, nullable=False),
    sa.Column("unblended_cost", sa.Numeric, nullable=False),
    sa.Column("time_interval", sa.Text, nullable=False),
    sa.Column("usage_start", sa.DateTime(timezone=True), nullable=False),
    sa.Column("invoice_id", sa.Text),
    # false: the vendor's latest data no longer contains the entry; it is kept while it is applied
    sa.Column("delivered", sa.Boolean, nullable=False),
    sa.Column("applied_month", sa.Text),
    sa.Column("exchange_rate", sa.Numeric),
    sa.Column("tax_free", sa.Boolean, nullable=False),
)
_entries = recalculation_entries.c
CORRECTION = "Correction"  # the calc_type of an entry that corrects an invoice of another month


@dataclass(frozen=True, slots=True)
class NewRecalculationEntry:
    """A one-off charge or credit from the vendor's data."""

    customer_id: str
    payer_id: str
    calc_type: str  # Fee, Credit, Refund or Upfront
    platform_type: str
    description: str
    product_name: str
    product_code: str
    currency_code: str
    unblended_cost: Decimal
    time_interval: str  # two timestamps separated by a slash
    usage_start: datetime
    invoice_id: str | None = None


def _select_with_group(*columns: Any) -> sa.Select[*tuple[Any, ...]]:
    """Select entries with their account, billing group and project, where they have one."""
    account = (
        (cloud_accounts.c.organisation_id == _entries.organisation_id)
        & (cloud_accounts.c.customer_id == _entries.customer_id)
        & (cloud_accounts.c.vendor == _entries.vendor)
    )
    group = (billing_groups.c.organisation_id == cloud_accounts.c.organisation_id) & (
        billing_groups.c.company_id == cloud_accounts.c.company_id
    )
    project = (projects.c.organisation_id == billing_groups.c.organisation_id) & (
        projects.c.project_id == billing_groups.c.project_id
    )
    return (
        sa.select(*columns)
        .join_from(recalculation_entries, cloud_accounts, account, isouter=True)
        .join(billing_groups, group, isouter=True)
        .join(projects, project, isouter=True)
    )


def _filter_visible_entries(scope: TenantScope, vendor: Vendor) -> list[sa.ColumnElement[bool]]:
    """Users restricted to certain billing groups cannot see accounts in no billing group."""
    conditions = [of_tenant(recalculation_entries, scope), _entries.vendor == vendor]
    if scope.billing_groups is None:
        return conditions
    return [*conditions, is_any_of(cloud_accounts.c.company_id, scope.billing_groups)]


_COLUMNS = ListColumns(
    table=recalculation_entries,
    order=[_entries.customer_id, _entries.usage_start, _entries.entry_id],
    searched=[
        _entries.entry_id,
        _entries.customer_id,
        cloud_accounts.c.name,
        billing_groups.c.billinggroup_id,
        billing_groups.c.billinggroup_name,
        _entries.description,
        _entries.product_name,
    ],
    sortable={
        "customer_id": _entries.customer_id,
        "customer_name": cloud_accounts.c.name,
        "billinggroup_name": billing_groups.c.billinggroup_name,
        "calc_type": _entries.calc_type,
        "unblended_cost": _entries.unblended_cost,
        "usage_start": _entries.usage_start,
    },
)


async def list_recalculation(
    db: AsyncConnection,
    scope: TenantScope,
    vendor: BilledVendor,
    month: str,
    query: ListQuery = COMPLETE,
    *,
    applied: bool | None = None,
    details: bool = False,
) -> tuple[list[RecalculationRecord], int]:
    """List entries of the month and entries applied to it, by customer and time.

    `applied` selects those that are applied, or those that are not.
    """
    stmt = _select_with_group(
        recalculation_entries,
        sa.func.coalesce(cloud_accounts.c.name, "").label("customer_name"),
        sa.func.coalesce(cloud_accounts.c.company_id, "").label("company_id"),
        sa.func.coalesce(billing_groups.c.billinggroup_id, "").label("billinggroup_id"),
        sa.func.coalesce(billing_groups.c.billinggroup_name, "").label("billinggroup_name"),
        projects.c.project_code,
    ).where(
        *_filter_visible_entries(scope, vendor),
        (_entries.month == month) | (_entries.applied_month == month),
    )
    if applied is not None:
        stmt = stmt.where(_entries.applied_month.is_not(None) == sa.literal(applied))
    rows, total = await fetch_page(db, scope, stmt, _COLUMNS, query)
    return [_build_record(row, vendor, details=details) for row in rows], total


def _build_record(row: Row, vendor: BilledVendor, *, details: bool) -> RecalculationRecord:
    return RecalculationRecord(
        id=row.entry_id,
        customer_id=row.customer_id,
        customer_name=row.customer_name,
        company_id=row.company_id,
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        project_code=row.project_code,
        calc_type=row.calc_type,
        platform_type=row.platform_type,
        description=row.description,
        product_name=row.product_name,
        product_code=row.product_code,
        account_id=row.payer_id,
        currency_code=row.currency_code,
        unblended_cost=format_decimal(row.unblended_cost),
        time_interval=row.time_interval,
        usage_start=clock.format_timestamp(row.usage_start),
        apply=row.applied_month is not None,
        exchange_rate=row.exchange_rate,
        tax_free=row.tax_free,
        vendor=vendor,
        applied_month=row.applied_month if details else UNSET,
    )


async def list_applied_months(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor, entry_ids: Collection[str]
) -> list[str]:
    """List the months to which any of these entries are applied, in order."""
    stmt = (
        sa.select(_entries.applied_month)
        .where(
            of_tenant(recalculation_entries, scope),
            _entries.vendor == vendor,
            is_any_of(_entries.entry_id, entry_ids),
            _entries.applied_month.is_not(None),
        )
        .distinct()
        .order_by(_entries.applied_month)
    )
    return list((await db.execute(stmt)).scalars())


async def lock_entries(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor, entry_ids: Collection[str]
) -> Sequence[Row]:
    """Lock those of the entries that the caller may see.

    The order is always the same, so that two requests cannot deadlock.
    """
    stmt = (
        _select_with_group(
            _entries.entry_id,
            _entries.month,
            _entries.applied_month,
            _entries.exchange_rate,
            _entries.tax_free,
            _entries.delivered,
            _entries.calc_type,
            cloud_accounts.c.company_id,
        )
        .where(*_filter_visible_entries(scope, vendor), is_any_of(_entries.entry_id, entry_ids))
        .order_by(_entries.entry_id)
        .with_for_update(of=recalculation_entries)
    )
    return (await db.execute(stmt)).all()


async def mark_applied(
    db: AsyncConnection,
    scope: TenantScope,
    entry_ids: Collection[str],
    *,
    month: str,
    exchange_rate: Decimal,
    tax_free: bool,
) -> None:
    await _update_entries(
        db, scope, entry_ids, applied_month=month, exchange_rate=exchange_rate, tax_free=tax_free
    )


async def mark_unapplied(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str]
) -> None:
    await _update_entries(
        db, scope, entry_ids, applied_month=None, exchange_rate=None, tax_free=False
    )


async def mark_undelivered(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str]
) -> None:
    await _update_entries(db, scope, entry_ids, delivered=False)


async def _update_entries(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str], **values: Any
) -> None:
    if entry_ids:
        await db.execute(
            sa.update(recalculation_entries)
            .where(*_filter_by_id(scope, entry_ids))
            .values(**values)
        )


async def delete_entries(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str]
) -> None:
    if entry_ids:
        await db.execute(sa.delete(recalculation_entries).where(*_filter_by_id(scope, entry_ids)))


def _filter_by_id(scope: TenantScope, entry_ids: Collection[str]) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(recalculation_entries, scope), is_any_of(_entries.entry_id, entry_ids)]


async def lock_payer_entries(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payer_id: str
) -> Sequence[Row]:
    stmt = (
        sa.select(recalculation_entries)
        .where(
            of_tenant(recalculation_entries, scope),
            of_period(recalculation_entries, period),
            _entries.payer_id == payer_id,
        )
        .order_by(_entries.entry_id)
        .with_for_update()
    )
    return (await db.execute(stmt)).all()


async def load_delivered_totals(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, payers: Collection[str]
) -> dict[tuple[str, ...], tuple[Decimal, int]]:
    """Return amount and number of the entries in the vendor's latest data.

    They are grouped by payer, account and currency.
    """
    columns = (_entries.payer_id, _entries.customer_id, _entries.currency_code)
    stmt = (
        sa.select(*columns, sa.func.sum(_entries.unblended_cost), sa.func.count())
        .where(
            of_tenant(recalculation_entries, scope),
            of_period(recalculation_entries, period),
            is_any_of(_entries.payer_id, payers),
            _entries.delivered,
        )
        .group_by(*columns)
    )
    return {tuple(row[:3]): (row[3], row[4]) for row in await db.execute(stmt)}


async def add_correction(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    entry_id: str,
    customer_id: str,
    description: str,
    currency_code: str,
    amount: Decimal,
    exchange_rate: Decimal,
) -> None:
    """Add an entry of the reseller, applied to the month; it belongs to no payer's data."""
    start = datetime.fromisoformat(f"{period.month}-01T00:00:00+00:00")
    time = start.strftime("%Y-%m-%dT%H:%M:%SZ")
    await db.execute(
        sa.insert(recalculation_entries).values(
            organisation_id=scope.organisation_id,
            entry_id=entry_id,
            vendor=period.vendor,
            payer_id="",
            month=period.month,
            customer_id=customer_id,
            calc_type=CORRECTION,
            platform_type="",
            description=description,
            product_name="",
            product_code="",
            currency_code=currency_code,
            unblended_cost=amount,
            time_interval=f"{time}/{time}",
            usage_start=start,
            delivered=False,
            applied_month=period.month,
            exchange_rate=exchange_rate,
            tax_free=False,
        )
    )


async def upsert_entries(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    entries: Mapping[str, NewRecalculationEntry],
) -> None:
    """Add new entries; existing entries receive the invoice_id, which the vendor adds later."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "entry_id": entry_id,
            "vendor": period.vendor,
            "month": period.month,
            "delivered": True,
            "tax_free": False,
            **{name: getattr(entry, name) for name in NewRecalculationEntry.__dataclass_fields__},
        }
        for entry_id, entry in sorted(entries.items())
    ]
    stmt = insert(recalculation_entries)
    stmt = stmt.on_conflict_do_update(
        index_elements=["organisation_id", "entry_id"],
        set_={"invoice_id": stmt.excluded.invoice_id, "delivered": True},
    )
    if rows:
        await db.execute(stmt, rows)
