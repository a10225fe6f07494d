"""Stored recalculation entries and the questions asked of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.bodies import RecalculationRecord
from nimbill.customers.billing_groups.records import billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.projects.records import projects
from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows
from nimbill.foundation import clock
from nimbill.foundation.vendors import BilledVendor

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
    # false: the vendor's newest data no longer has it, but it is applied and stays until it is not
    sa.Column("delivered", sa.Boolean, nullable=False),
    sa.Column("applied_month", sa.Text),
    sa.Column("exchange_rate", sa.Numeric),
    sa.Column("tax_free", sa.Boolean, nullable=False),
)
_entries = recalculation_entries.c


@dataclass(frozen=True, slots=True)
class NewEntry:
    """A one-off line of the vendor's."""

    customer_id: str
    payer_id: str
    calc_type: str  # Fee, Credit, Refund or Upfront
    platform_type: str
    description: str
    product_name: str
    product_code: str
    currency_code: str
    unblended_cost: Decimal
    time_interval: str  # two timestamps with a slash between them
    usage_start: datetime
    invoice_id: str | None = None


def _with_groups(*columns: Any) -> sa.Select[*tuple[Any, ...]]:
    """Entries beside the account, the group and the project they belong to, where they do."""
    whose = (
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
        .join_from(recalculation_entries, cloud_accounts, whose, isouter=True)
        .join(billing_groups, group, isouter=True)
        .join(projects, project, isouter=True)
    )


def _of_vendor(scope: TenantScope, vendor: BilledVendor) -> list[sa.ColumnElement[bool]]:
    """Who sees only some billing groups sees nothing of accounts that are in none."""
    of_vendor = [_entries.organisation_id == scope.organisation_id, _entries.vendor == vendor]
    if scope.billing_groups is None:
        return of_vendor
    return [*of_vendor, visible_rows(cloud_accounts.c.company_id, scope.billing_groups)]


async def list_recalculation(
    db: AsyncConnection, scope: TenantScope, vendor: BilledVendor, month: str
) -> list[RecalculationRecord]:
    """Entries of the month and those applied into it, by customer and time."""
    question = (
        _with_groups(
            recalculation_entries,
            sa.func.coalesce(cloud_accounts.c.name, "").label("customer_name"),
            sa.func.coalesce(cloud_accounts.c.company_id, "").label("company_id"),
            sa.func.coalesce(billing_groups.c.billinggroup_id, "").label("billinggroup_id"),
            sa.func.coalesce(billing_groups.c.billinggroup_name, "").label("billinggroup_name"),
            projects.c.project_code,
        )
        .where(
            *_of_vendor(scope, vendor),
            (_entries.month == month) | (_entries.applied_month == month),
        )
        .order_by(_entries.customer_id, _entries.usage_start, _entries.entry_id)
    )
    return [_record(row, vendor) for row in await db.execute(question)]


def _record(row: Row, vendor: BilledVendor) -> RecalculationRecord:
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
        unblended_cost=plain(row.unblended_cost),
        time_interval=row.time_interval,
        usage_start=clock.written(row.usage_start),
        apply=row.applied_month is not None,
        exchange_rate=row.exchange_rate,
        tax_free=row.tax_free,
        vendor=vendor,
    )


def plain(amount: Decimal) -> str:
    """Every digit that counts, without exponent and without zeros behind them."""
    written = f"{amount:f}"
    written = written.rstrip("0").rstrip(".") if "." in written else written
    return "0" if written == "-0" else written


async def applied_months(
    db: AsyncConnection, scope: TenantScope, vendor: BilledVendor, entry_ids: Collection[str]
) -> list[str]:
    """Into which months any of these are applied, in order."""
    question = (
        sa.select(_entries.applied_month)
        .where(
            _entries.organisation_id == scope.organisation_id,
            _entries.vendor == vendor,
            visible_rows(_entries.entry_id, entry_ids),
            _entries.applied_month.is_not(None),
        )
        .distinct()
        .order_by(_entries.applied_month)
    )
    return list((await db.execute(question)).scalars())


async def lock_entries(
    db: AsyncConnection, scope: TenantScope, vendor: BilledVendor, entry_ids: Collection[str]
) -> Sequence[Row]:
    """Those of them that the caller may see, always in the same order, with their group."""
    question = (
        _with_groups(
            _entries.entry_id,
            _entries.month,
            _entries.applied_month,
            _entries.exchange_rate,
            _entries.tax_free,
            _entries.delivered,
            cloud_accounts.c.company_id,
        )
        .where(*_of_vendor(scope, vendor), visible_rows(_entries.entry_id, entry_ids))
        .order_by(_entries.entry_id)
        .with_for_update(of=recalculation_entries)
    )
    return (await db.execute(question)).all()


async def put_applied(
    db: AsyncConnection,
    scope: TenantScope,
    entry_ids: Collection[str],
    *,
    month: str,
    exchange_rate: Decimal,
    tax_free: bool,
) -> None:
    await _change(
        db, scope, entry_ids, applied_month=month, exchange_rate=exchange_rate, tax_free=tax_free
    )


async def put_unapplied(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str]
) -> None:
    await _change(db, scope, entry_ids, applied_month=None, exchange_rate=None, tax_free=False)


async def put_undelivered(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str]
) -> None:
    await _change(db, scope, entry_ids, delivered=False)


async def _change(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str], **values: Any
) -> None:
    if entry_ids:
        await db.execute(
            sa.update(recalculation_entries).where(*_these(scope, entry_ids)).values(**values)
        )


async def forget_entries(
    db: AsyncConnection, scope: TenantScope, entry_ids: Collection[str]
) -> None:
    if entry_ids:
        await db.execute(sa.delete(recalculation_entries).where(*_these(scope, entry_ids)))


def _these(scope: TenantScope, entry_ids: Collection[str]) -> list[sa.ColumnElement[bool]]:
    return [
        _entries.organisation_id == scope.organisation_id,
        visible_rows(_entries.entry_id, entry_ids),
    ]


async def lock_entries_of_payer(
    db: AsyncConnection, scope: TenantScope, vendor: str, payer_id: str, month: str
) -> Sequence[Row]:
    """What the vendor delivered for a payer and month so far."""
    question = (
        sa.select(recalculation_entries)
        .where(
            _entries.organisation_id == scope.organisation_id,
            _entries.vendor == vendor,
            _entries.payer_id == payer_id,
            _entries.month == month,
        )
        .order_by(_entries.entry_id)
        .with_for_update()
    )
    return (await db.execute(question)).all()


async def put_entries(
    db: AsyncConnection,
    scope: TenantScope,
    vendor: str,
    month: str,
    entries: Mapping[str, NewEntry],
) -> None:
    """New ones are added; of those already there only what may come later changes."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "entry_id": entry_id,
            "vendor": str(vendor),
            "month": month,
            "delivered": True,
            "tax_free": False,
            **{name: getattr(entry, name) for name in NewEntry.__dataclass_fields__},
        }
        for entry_id, entry in sorted(entries.items())
    ]
    adding = insert(recalculation_entries)
    adding = adding.on_conflict_do_update(
        index_elements=["organisation_id", "entry_id"],
        set_={"invoice_id": adding.excluded.invoice_id, "delivered": True},
    )
    if rows:
        await db.execute(adding, rows)
