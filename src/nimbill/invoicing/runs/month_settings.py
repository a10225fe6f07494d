"""The invoice settings, exchange rates and memos saved for a month before it is invoiced."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.fee_targets import FeeTargets
from nimbill.customers.billing_groups.invoice_setting_records import invoice_settings
from nimbill.customers.billing_groups.records import (
    InvoiceSetting,
    billing_groups,
    filter_visible_groups,
)
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
from nimbill.foundation.vendors import BilledVendor
from nimbill.invoicing.documents.bodies import SavedExchangeRate

SETTING_FIELDS = InvoiceSetting.__struct_fields__
FEE_TARGET_COLUMNS = tuple(FeeTargets.__dataclass_fields__)
_COPIED_COLUMNS = (*SETTING_FIELDS, *FEE_TARGET_COLUMNS)
_get_setting, _get_fee_targets = attrgetter(*SETTING_FIELDS), attrgetter(*FEE_TARGET_COLUMNS)
_KEY = ("organisation_id", "month", "vendor", "company_id")

monthly_invoice_settings = sa.Table(
    "monthly_invoice_settings",
    metadata,
    *(sa.Column(name, sa.Text, primary_key=True) for name in _KEY),
    *(
        sa.Column(name, invoice_settings.c[name].type, nullable=invoice_settings.c[name].nullable)
        for name in _COPIED_COLUMNS
    ),
    sa.Column("memo", sa.Text),
    sa.Column("exchange_rate", sa.Numeric),  # null until it is saved in a later request
    sa.Column("rate_saved_by", sa.Text),  # the name of the user at that time
    sa.Column("rate_saved_time", sa.DateTime(timezone=True)),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
_saved = monthly_invoice_settings.c

SavedSetting = Row | SimpleNamespace  # a row of the table, or the same with other terms


@dataclass(frozen=True, slots=True)
class NewMonthlySetting:
    """The setting of a billing group that is saved for a month."""

    company_id: str
    vendor: str
    setting: InvoiceSetting
    fee_targets: FeeTargets
    memo: str | None


async def list_visible_groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str] | None = None
) -> list[str]:
    """List the visible groups among these, or all visible groups, by billinggroup_id."""
    stmt = sa.select(billing_groups.c.company_id).where(*filter_visible_groups(scope))
    if company_ids is not None:
        stmt = stmt.where(is_any_of(billing_groups.c.company_id, company_ids))
    return list((await db.execute(stmt.order_by(billing_groups.c.billinggroup_id))).scalars())


async def list_default_vendors(db: AsyncConnection, scope: TenantScope) -> set[BilledVendor]:
    """The vendors for which a visible group has a default setting."""
    stmt = (
        sa.select(invoice_settings.c.vendor)
        .distinct()
        .join_from(
            invoice_settings,
            billing_groups,
            (billing_groups.c.organisation_id == invoice_settings.c.organisation_id)
            & (billing_groups.c.company_id == invoice_settings.c.company_id),
        )
        .where(*filter_visible_groups(scope))
    )
    return {vendor for (vendor,) in await db.execute(stmt)}


async def copy_defaults(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendors: Collection[str],
    company_ids: Collection[str] | None = None,
) -> int:
    """Copy the defaults of these visible groups, or of all; rates and memos stay. Count them."""
    defaults = (
        sa.select(
            sa.literal(scope.organisation_id),
            sa.literal(month),
            invoice_settings.c.vendor,
            invoice_settings.c.company_id,
            *(invoice_settings.c[name] for name in _COPIED_COLUMNS),
        )
        .join_from(
            invoice_settings,
            billing_groups,
            (billing_groups.c.organisation_id == invoice_settings.c.organisation_id)
            & (billing_groups.c.company_id == invoice_settings.c.company_id),
        )
        .where(
            of_tenant(invoice_settings, scope),
            is_any_of(invoice_settings.c.vendor, vendors),
            *filter_visible_groups(scope),
        )
    )
    if company_ids is not None:
        defaults = defaults.where(is_any_of(invoice_settings.c.company_id, company_ids))
    stmt = insert(monthly_invoice_settings).from_select([*_KEY, *_COPIED_COLUMNS], defaults)
    changes = {name: stmt.excluded[name] for name in _COPIED_COLUMNS} | {
        "update_time": sa.func.now()
    }
    stmt = stmt.on_conflict_do_update(index_elements=list(_KEY), set_=changes)
    return len((await db.execute(stmt.returning(_saved.company_id))).all())


async def save_settings(
    db: AsyncConnection, scope: TenantScope, month: str, settings: Sequence[NewMonthlySetting]
) -> None:
    """Saved exchange rates stay."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "month": month,
            "vendor": setting.vendor,
            "company_id": setting.company_id,
            **{name: getattr(setting.setting, name) for name in SETTING_FIELDS},
            **asdict(setting.fee_targets),
            "memo": setting.memo,
        }
        for setting in settings
    ]
    stmt = insert(monthly_invoice_settings)
    changes: dict[str, Any] = {name: stmt.excluded[name] for name in (*_COPIED_COLUMNS, "memo")}
    changes["update_time"] = sa.func.now()
    if rows:
        await db.execute(stmt.on_conflict_do_update(index_elements=list(_KEY), set_=changes), rows)


async def save_rates(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_ids: Collection[str],
    rate: Decimal,
    saved_by: str,
) -> set[str]:
    """Save the rate; return the groups that have saved settings, and so have a rate now."""
    updated = await db.execute(
        sa.update(monthly_invoice_settings)
        .where(
            of_tenant(monthly_invoice_settings, scope),
            of_period(monthly_invoice_settings, period),
            is_any_of(_saved.company_id, company_ids),
        )
        .values(
            exchange_rate=rate,
            rate_saved_by=saved_by,
            rate_saved_time=clock.now(),
            update_time=sa.func.now(),
        )
        .returning(_saved.company_id)
    )
    return set(updated.scalars())


async def list_rates(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    *,
    vendor: BilledVendor | None,
    limit: int | None,
    offset: int,
) -> list[SavedExchangeRate]:
    """List the saved rates of visible groups, by billinggroup_id and vendor."""
    stmt = (
        sa.select(
            billing_groups.c.company_id,
            billing_groups.c.billinggroup_id,
            billing_groups.c.billinggroup_name,
            _saved.vendor,
            _saved.exchange_rate,
            _saved.rate_saved_by,
            _saved.rate_saved_time,
        )
        .join_from(
            monthly_invoice_settings,
            billing_groups,
            (billing_groups.c.organisation_id == _saved.organisation_id)
            & (billing_groups.c.company_id == _saved.company_id),
        )
        .where(
            of_tenant(monthly_invoice_settings, scope),
            _saved.month == month,
            _saved.exchange_rate.is_not(None),
            *([] if vendor is None else [_saved.vendor == vendor]),
            *filter_visible_groups(scope),
        )
        .order_by(billing_groups.c.billinggroup_id, _saved.vendor)
        .limit(limit)
        .offset(offset)
    )
    return [_build_rate(row) for row in await db.execute(stmt)]


async def count_saved_rates(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Sequence[Row]:
    """List each rate of the period and the number of groups that have it, the most used first."""
    groups = sa.func.count()
    stmt = (
        sa.select(_saved.exchange_rate, groups)
        .where(
            of_tenant(monthly_invoice_settings, scope),
            of_period(monthly_invoice_settings, period),
            _saved.exchange_rate.is_not(None),
        )
        .group_by(_saved.exchange_rate)
        .order_by(groups.desc(), _saved.exchange_rate)
    )
    return (await db.execute(stmt)).all()


async def find_last_saved_rate(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Row | None:
    """Find rate_saved_by and rate_saved_time of the rate of the period that was saved last."""
    stmt = (
        sa.select(_saved.rate_saved_by, _saved.rate_saved_time)
        .where(
            of_tenant(monthly_invoice_settings, scope),
            of_period(monthly_invoice_settings, period),
            _saved.rate_saved_time.is_not(None),
        )
        .order_by(_saved.rate_saved_time.desc())
        .limit(1)
    )
    return (await db.execute(stmt)).one_or_none()


def _build_rate(row: Row) -> SavedExchangeRate:
    at = row.rate_saved_time
    return SavedExchangeRate(
        company_id=row.company_id,
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        vendor=row.vendor,
        exchange_rate=row.exchange_rate,
        saved_by=row.rate_saved_by,
        saved_time=None if at is None else clock.format_timestamp(at),
    )


async def load_saved_settings(
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> Mapping[tuple[str, str], Row]:
    """Load the saved settings by company_id and vendor."""
    stmt = sa.select(monthly_invoice_settings).where(
        of_tenant(monthly_invoice_settings, scope),
        _saved.month == month,
        is_any_of(_saved.company_id, company_ids),
    )
    return {(row.company_id, row.vendor): row for row in await db.execute(stmt)}


async def load_earlier_fee_targets(
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> Mapping[tuple[str, str], FeeTargets]:
    """Load the fee targets that a new setting keeps where it does not state them.

    They come from the saved setting of the month, or else from the group's default setting.
    """
    default_stmt = sa.select(
        invoice_settings.c.company_id,
        invoice_settings.c.vendor,
        *(invoice_settings.c[name] for name in FEE_TARGET_COLUMNS),
    ).where(
        of_tenant(invoice_settings, scope), is_any_of(invoice_settings.c.company_id, company_ids)
    )
    defaults = {(row[0], row[1]): FeeTargets(*row[2:]) for row in await db.execute(default_stmt)}
    saved = await load_saved_settings(db, scope, month, company_ids)
    return defaults | {key: read_fee_targets(row) for key, row in saved.items()}


def read_fee_targets(row: SavedSetting) -> FeeTargets:
    return FeeTargets(*_get_fee_targets(row))


def replace_terms(row: Row, setting: InvoiceSetting, targets: FeeTargets) -> SavedSetting:
    """Return the saved setting with other terms; its exchange rate and memo stay."""
    terms = {name: getattr(setting, name) for name in SETTING_FIELDS} | asdict(targets)
    return SimpleNamespace(**row._asdict() | terms)


def read_setting_fields(row: Row | Any) -> dict[str, Any]:
    """Return the 17 fields of the setting as last sent."""
    return dict(zip(SETTING_FIELDS, _get_setting(row), strict=True))
